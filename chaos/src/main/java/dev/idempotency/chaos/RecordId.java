package dev.idempotency.chaos;

/** The identity of a record, independent of its message. */
public final class RecordId {

    private RecordId() {}

    /** Returns the id of a message as a UUID of version 7, which contains its time. */
    public static String timed(int number, long millis) {
        String time = "%012x".formatted(millis);
        return "%s-%s-7000-8000-%012d".formatted(time.substring(0, 8), time.substring(8), number);
    }

    /** Returns the number of a message, whether or not its id contains its time. */
    public static String numberOf(String id) {
        return String.valueOf(Long.parseLong(id.substring(id.lastIndexOf('-') + 1)));
    }

    public static String of(int partition, long offset) {
        return partition + "@" + offset;
    }
}
