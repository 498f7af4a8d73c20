package dev.idempotency.definition;

/**
 * Why a listener cannot be protected as it is written.
 *
 * @param kind what it concerns
 * @param what what is wrong
 * @param remedy how to mend it
 */
public record ListenerFault(Kind kind, String what, String remedy) {

    /** What a fault concerns. */
    public enum Kind {
        CONSUMER_NAME,
        KEY_EXPRESSION,
        TRANSACTION_MANAGER,
        RETENTION,
        INBOX,
        PROXY,
        TRANSACTION_PER_POLL
    }
}
