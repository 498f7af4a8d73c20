package dev.idempotency.inbox;

import java.util.Locale;

/** The status of an {@link InboxEntry}. */
public enum InboxStatus {

    /** The listener has processed it. */
    PROCESSED,

    /** The listener has failed at it and has not processed it since. Its redelivery, if there is one, runs. */
    FAILED,

    /** The listener has failed at it, as it is unknown whether one of its steps happened. An operator must settle that. */
    UNKNOWN,

    /** It was processed and then forgotten on request: its redelivery is processed. */
    FORGOTTEN,

    /** It was sent to its topic again and has not come back yet. */
    REPLAYED;

    public static InboxStatus of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    /** Its name in the table. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
