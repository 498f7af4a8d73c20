package dev.idempotency.chaos;

/** Maps messages to the entities whose state they contain. The version is the message's number. */
public final class Entities {

    private static final int COUNT = 500;

    private Entities() {}

    public static int of(int message) {
        return message % COUNT;
    }
}
