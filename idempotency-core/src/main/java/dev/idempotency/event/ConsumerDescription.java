package dev.idempotency.event;

import dev.idempotency.DeduplicationStrategy;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A consumer, as it is known from start-up on.
 *
 * @param name the name under which its messages are recorded
 * @param topics its topics, or its topic pattern
 * @param keySource where its keys come from
 * @param retention how long its processed messages are remembered
 * @param strategy how its messages are recognised
 */
public record ConsumerDescription(
        String name,
        String listener,
        Collection<String> topics,
        @Nullable String groupId,
        String keySource,
        Duration retention,
        DeduplicationStrategy strategy) {

    public ConsumerDescription {
        topics = List.copyOf(topics);
    }
}
