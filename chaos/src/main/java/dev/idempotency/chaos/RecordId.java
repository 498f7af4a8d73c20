package dev.idempotency.chaos;

/** What a record is known by, whatever message is in it. */
public final class RecordId {

    private RecordId() {}

    public static String of(int partition, long offset) {
        return partition + "@" + offset;
    }
}
