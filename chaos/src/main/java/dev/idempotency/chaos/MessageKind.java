package dev.idempotency.chaos;

import java.util.Locale;

/** The effect of a message on its listener. */
public enum MessageKind {

    /** It is applied. */
    ORDINARY,

    /** It fails at the first attempt of each process, and is applied at the next. */
    FLAKY,

    /** It always fails: it is dead-lettered, and never applied. */
    POISON;

    /** The payload of a message of this kind. */
    public String payload(String id) {
        return name().toLowerCase(Locale.ROOT) + ":" + id;
    }

    public static MessageKind ofPayload(String payload) {
        return valueOf(payload.substring(0, payload.indexOf(':')).toUpperCase(Locale.ROOT));
    }

    public static String idOfPayload(String payload) {
        return payload.substring(payload.indexOf(':') + 1);
    }
}
