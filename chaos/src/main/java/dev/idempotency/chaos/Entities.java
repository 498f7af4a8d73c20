package dev.idempotency.chaos;

/** Of which entity a message carries the state. Its version is the message's own number. */
public final class Entities {

    private static final int COUNT = 500;

    private Entities() {}

    public static int of(int message) {
        return message % COUNT;
    }
}
