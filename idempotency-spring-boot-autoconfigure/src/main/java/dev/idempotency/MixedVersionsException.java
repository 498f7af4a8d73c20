package dev.idempotency;

/**
 * A message has a version that does not compare with the one of its entity that was processed last: one is a number, the
 * other a point in time. Redelivery does not change that.
 */
@SuppressWarnings("serial")
public class MixedVersionsException extends InvalidMessageKeyException {

    private final transient RecordCoordinates coordinates;

    /** {@code coordinates} are those of the record that was delivered. */
    public MixedVersionsException(String message, RecordCoordinates coordinates) {
        super(message, null);
        this.coordinates = coordinates;
    }

    /** The record that was delivered. */
    public RecordCoordinates coordinates() {
        return this.coordinates;
    }
}
