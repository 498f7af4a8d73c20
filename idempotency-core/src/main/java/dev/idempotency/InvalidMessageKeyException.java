package dev.idempotency;

import org.jspecify.annotations.Nullable;

/** A message has no key, one that cannot be used, or a version that does not compare with the last one of its entity. */
@SuppressWarnings("serial")
public class InvalidMessageKeyException extends NonRetryableMessageException {

    private final boolean missing;

    public InvalidMessageKeyException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    private InvalidMessageKeyException(String message, @Nullable Throwable cause, boolean missing) {
        super(message, cause);
        this.missing = missing;
    }

    /** Creates the exception for a message without a key, or with a blank one. */
    public static InvalidMessageKeyException missing(String message) {
        return new InvalidMessageKeyException(message, null, true);
    }

    /** Whether the message has no key, or a blank one. */
    public boolean isMissing() {
        return this.missing;
    }
}
