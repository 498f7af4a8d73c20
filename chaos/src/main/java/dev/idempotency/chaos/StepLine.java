package dev.idempotency.chaos;

import java.time.Instant;

/**
 * A line in the log of the system that is called by steps.
 *
 * @param at when it was written; all processes share one clock
 * @param messageId the message
 * @param attempt the id of the attempt
 */
public record StepLine(Instant at, String messageId, String attempt, Event event) {

    /** The event. */
    public enum Event {

        /** The listener was called, before its first step. */
        BEGUN,

        /** {@code step} has called. */
        CHARGED,

        /** {@code step} has returned, so that it is recorded. */
        RECORDED,

        /** {@code stepAtMostOnce} has called. */
        MAILED
    }

    public static StepLine now(String messageId, String attempt, Event event) {
        return new StepLine(Instant.now(), messageId, attempt, event);
    }

    public static StepLine parse(String line) {
        String[] parts = line.split(" ");
        return new StepLine(Instant.parse(parts[0]), parts[1], parts[2], Event.valueOf(parts[3]));
    }

    @Override
    public String toString() {
        return "%s %s %s %s".formatted(this.at, this.messageId, this.attempt, this.event);
    }
}
