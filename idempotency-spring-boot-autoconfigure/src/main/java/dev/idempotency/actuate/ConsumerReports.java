package dev.idempotency.actuate;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.internal.event.ConsumerOutages;
import dev.idempotency.internal.event.ConsumerOutages.ConsumerOutage;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.metrics.ConsumerCounts;
import dev.idempotency.internal.metrics.StoreWatch;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.PartitionPosition;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.Cleanup.CleanupStatus;
import dev.idempotency.store.StoreStatistics;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports on the consumers of this instance; cleanup and positions are {@code null} if the store is the application's. */
public record ConsumerReports(
        ConsumerRegistry registry,
        ConsumerCounts counts,
        StoreWatch store,
        ConsumerOutages outages,
        @Nullable Cleanup cleanup,
        @Nullable JdbcPositionStore positions) {

    private static final Logger logger = LoggerFactory.getLogger(ConsumerReports.class);

    Report all() {
        StoreStatistics statistics = this.store.current();
        Map<String, List<ConsumerDescription>> byName = this.registry.consumers().stream()
                .collect(Collectors.groupingBy(ConsumerDescription::name, TreeMap::new, Collectors.toList()));
        Map<String, List<PartitionPosition>> known = positionsOf(this.registry);
        return new Report(
                byName.values().stream()
                        .map(descriptions -> report(descriptions, statistics, known))
                        .toList(),
                new StoreReport(statistics.rows(), statistics.slots().isEmpty() ? null : statistics.slots()),
                CleanupReport.of(this.cleanup));
    }

    @Nullable
    ConsumerReport one(String consumer) {
        List<ConsumerDescription> found = descriptionsOf(consumer).toList();
        return found.isEmpty() ? null : report(found, this.store.current(), positionsOf(() -> found));
    }

    /** How a consumer's messages are recognised; if it is not known, by their ids. */
    DeduplicationStrategy strategyOf(String consumer) {
        return descriptionsOf(consumer)
                .map(ConsumerDescription::strategy)
                .findFirst()
                .orElse(DeduplicationStrategy.MESSAGE_ID);
    }

    private Stream<ConsumerDescription> descriptionsOf(String consumer) {
        return this.registry.consumers().stream()
                .filter(description -> description.name().equals(consumer));
    }

    private ConsumerReport report(
            List<ConsumerDescription> descriptions,
            StoreStatistics statistics,
            Map<String, List<PartitionPosition>> known) {
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
                this.counts.countsOf(IdempotencyMeters.MESSAGES, IdempotencyMeters.OUTCOME, consumer),
                this.counts.countsOf(IdempotencyMeters.DEDUP_HITS, IdempotencyMeters.KIND, consumer),
                this.counts
                        .countsOf(IdempotencyMeters.DEDUP_CONFLICTS, IdempotencyMeters.CONSUMER, consumer)
                        .get(consumer),
                statistics.oldestAges().get(consumer),
                known.get(consumer),
                this.outages.current().stream()
                        .filter(outage -> outage.consumer().equals(consumer))
                        .toList());
    }

    private static Set<String> distinct(
            List<ConsumerDescription> descriptions, Function<ConsumerDescription, Collection<String>> values) {
        return descriptions.stream()
                .flatMap(description -> values.apply(description).stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The positions of consumers that have some; none while the database is away, which is asked only once then. */
    private Map<String, List<PartitionPosition>> positionsOf(ConsumerRegistry consumers) {
        Map<String, List<PartitionPosition>> found = new HashMap<>();
        if (this.positions == null) {
            return found;
        }
        try {
            for (String consumer :
                    consumers.recognisedBy(DeduplicationStrategy.OFFSET).names()) {
                found.put(consumer, this.positions.positionsOf(consumer));
            }
        } catch (RuntimeException ex) {
            logger.debug("Positions could not be read", ex);
        }
        return found;
    }

    /**
     * A consumer, and the outcomes of its messages in this instance. Without meters there are no counts; without a retention
     * its messages are never forgotten. Only consumers with {@link DeduplicationStrategy#OFFSET} have positions.
     */
    record ConsumerReport(
            String consumer,
            Set<String> listeners,
            Set<String> topics,
            Set<String> groups,
            DeduplicationStrategy strategy,
            String keySource,
            @Nullable Duration retention,
            Map<String, Long> messages,
            Map<String, Long> hits,
            @Nullable Long conflicts,
            @Nullable Duration oldestAge,
            @Nullable List<PartitionPosition> positions,
            List<ConsumerOutage> outages) {}

    /** All consumers, the store and the cleanup. */
    record Report(List<ConsumerReport> consumers, StoreReport store, CleanupReport cleanup) {}

    /** How many messages the store remembers, estimated; absent if that is not known. */
    record StoreReport(@Nullable Long rows, @Nullable List<StoreStatistics.Slot> slots) {}

    /** The cleanup of this instance. */
    record CleanupReport(
            @Nullable Success lastRun, @Nullable Failure failure) {

        /** A {@link CleanupRun} that did not fail. */
        record Success(Instant at, Duration took, long deleted, boolean keepsUp) {}

        /** When a run failed, and why. */
        record Failure(Instant at, String reason) {}

        /** The report on a cleanup; {@code null} where the application has none of ours. */
        static CleanupReport of(@Nullable Cleanup cleanup) {
            if (cleanup == null) {
                return new CleanupReport(null, null);
            }
            CleanupStatus status = cleanup.status();
            CleanupRun success = status.lastSuccess();
            CleanupRun last = status.lastRun();
            return new CleanupReport(
                    (success != null)
                            ? new Success(success.at(), success.took(), success.deleted(), success.keepsUp())
                            : null,
                    (last != null && last.failure() != null)
                            ? new Failure(last.at(), last.failure().toString())
                            : null);
        }
    }
}
