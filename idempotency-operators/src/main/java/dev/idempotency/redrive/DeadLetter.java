package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter without its key, headers and payload, which {@link DeadLetterMessage} has.
 *
 * @param record where it stands in the dead-letter topic
 * @param original where it stood first; {@code null} if its headers do not lead back to a topic that the consumer reads
 * @param group the consumer group that gave it up, if that is known
 * @param exception the class of the exception that it failed with, or of its cause, as its headers say
 * @param message the text of that exception, which may quote the payload
 * @param redrives how often it had been sent back before
 */
public record DeadLetter(
        RecordCoordinates record,
        DeadLetterStatus status,
        @Nullable RecordCoordinates original,
        @Nullable String group,
        @Nullable String exception,
        @Nullable String message,
        Instant at,
        int redrives,
        @Nullable Integer payloadSize) {}
