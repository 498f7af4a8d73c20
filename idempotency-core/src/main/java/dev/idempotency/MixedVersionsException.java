package dev.idempotency;

/** A version does not compare with that of its entity which was processed last: one is a number, the other a point in time. */
@SuppressWarnings("serial")
public class MixedVersionsException extends InvalidMessageKeyException {

    private final transient RecordCoordinates coordinates;

    public MixedVersionsException(String message, RecordCoordinates coordinates) {
        super(message, null);
        this.coordinates = coordinates;
    }

    /** The record that was delivered. */
    public RecordCoordinates coordinates() {
        return this.coordinates;
    }
}
