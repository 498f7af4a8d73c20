package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some dead letters of a consumer, by topic and partition, the oldest of each first.
 *
 * @param topics the dead-letter topics of the consumer that exist
 * @param next what to continue after; {@code null} at the end
 */
public record DeadLetterPage(
        List<DeadLetter> letters,
        List<String> topics,
        @Nullable RecordCoordinates next) {

    public DeadLetterPage {
        letters = List.copyOf(letters);
        topics = List.copyOf(topics);
    }
}
