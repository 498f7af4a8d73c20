package dev.idempotency.actuate;

import dev.idempotency.Strategy;
import dev.idempotency.metrics.ConsumerCounts;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.store.PartitionPosition;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One consumer, and what became of its messages in this instance, as the meters count them. Its parts are the properties of a
 * flat JSON object.
 *
 * @param consumer the name under which its messages are recorded
 * @param listeners classes and methods
 * @param topics topics, with those of its retries
 * @param groups consumer groups
 * @param strategy how its messages are recognised
 * @param keySource where its keys come from
 * @param retention how long its messages are remembered; absent if they are for ever
 * @param messages messages by outcome; nothing without meters
 * @param hits duplicates by kind; nothing without meters
 * @param conflicts messages with the id of another one, and another payload; absent without meters
 * @param oldestAge how long ago the oldest message that is remembered was processed; absent if there is none
 * @param positions up to where it has processed its partitions; absent if messages are not recognised by their offsets
 */
record ConsumerReport(
        String consumer,
        Set<String> listeners,
        Set<String> topics,
        Set<String> groups,
        Strategy strategy,
        String keySource,
        @Nullable Duration retention,
        Map<String, Long> messages,
        Map<String, Long> hits,
        @Nullable Long conflicts,
        @Nullable Duration oldestAge,
        @Nullable List<PartitionPosition> positions) {

    /** The report on a consumer with these listeners, of which there is one at least. */
    static ConsumerReport of(
            List<ConsumerDescription> descriptions,
            ConsumerCounts counts,
            @Nullable Duration oldestAge,
            @Nullable List<PartitionPosition> positions) {
        ConsumerDescription first = descriptions.get(0);
        String consumer = first.name();
        return new ConsumerReport(
                consumer,
                distinct(descriptions, description -> List.of(description.listener())),
                distinct(descriptions, ConsumerDescription::topics),
                distinct(descriptions, description -> List.of(Objects.requireNonNullElse(description.groupId(), "-"))),
                first.strategy(),
                first.keySource(),
                first.strategy().isForgetful() ? first.retention() : null,
                counts.countsOf(IdempotencyMeters.MESSAGES, IdempotencyMeters.OUTCOME, consumer),
                counts.countsOf(IdempotencyMeters.DEDUP_HITS, IdempotencyMeters.KIND, consumer),
                counts.countsOf(IdempotencyMeters.DEDUP_CONFLICTS, IdempotencyMeters.CONSUMER, consumer)
                        .get(consumer),
                oldestAge,
                positions);
    }

    private static Set<String> distinct(
            List<ConsumerDescription> descriptions, Function<ConsumerDescription, Collection<String>> values) {
        return descriptions.stream()
                .flatMap(description -> values.apply(description).stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
