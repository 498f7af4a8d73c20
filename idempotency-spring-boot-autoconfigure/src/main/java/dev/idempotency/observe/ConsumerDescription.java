package dev.idempotency.observe;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A consumer, as it is known from start-up on.
 *
 * @param name the name under which its messages are recorded
 * @param listener class and method
 * @param topics its topics, or its topic pattern
 * @param groupId the consumer group
 * @param keySource where its keys come from
 * @param retention how long its processed messages are remembered
 */
public record ConsumerDescription(
        String name,
        String listener,
        Collection<String> topics,
        @Nullable String groupId,
        String keySource,
        Duration retention) {

    public ConsumerDescription {
        topics = List.copyOf(topics);
    }
}
