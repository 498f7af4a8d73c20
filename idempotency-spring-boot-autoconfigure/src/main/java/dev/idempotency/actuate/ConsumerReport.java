package dev.idempotency.actuate;

import dev.idempotency.DuplicateKind;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One consumer, and what became of its messages in this instance since its start.
 *
 * @param consumer the name under which its messages are recorded
 * @param listeners classes and methods
 * @param topics topics, with those of its retries
 * @param groups consumer groups
 * @param keySource where its keys come from
 * @param retention how long its messages are remembered
 * @param messages messages by outcome
 * @param hits duplicates by kind
 * @param hitRatio share of duplicates in what was processed or dropped; absent if nothing was
 * @param lastHit the last duplicate, if there was one
 * @param oldestAge how long ago the oldest message that is remembered was processed; absent if there is none
 */
record ConsumerReport(
        String consumer,
        Set<String> listeners,
        Set<String> topics,
        Set<String> groups,
        String keySource,
        Duration retention,
        Map<String, Long> messages,
        Map<String, Long> hits,
        @Nullable Double hitRatio,
        @Nullable LastHit lastHit,
        @Nullable Duration oldestAge) {

    /**
     * A duplicate that was dropped.
     *
     * @param at when, by the clock of this instance
     * @param kind whose doing it is
     * @param messageId the message
     * @param record the record that was dropped
     * @param age how long before the original was processed; absent if it is no longer known
     */
    record LastHit(
            Instant at,
            String kind,
            String messageId,
            RecordCoordinates record,
            @Nullable Duration age) {

        static LastHit of(ConsumerTally.Hit hit) {
            return new LastHit(
                    hit.at(),
                    tag(hit.duplicate().kind()),
                    hit.duplicate().id().value(),
                    hit.duplicate().coordinates(),
                    hit.duplicate().age());
        }
    }

    /** The report on a consumer with these listeners, of which there is one at least. */
    static ConsumerReport of(
            List<ConsumerDescription> descriptions, ConsumerTally tally, @Nullable Duration oldestAge) {
        ConsumerDescription first = descriptions.get(0);
        ConsumerTally.Hit lastHit = tally.lastHit();
        return new ConsumerReport(
                first.name(),
                distinct(descriptions, description -> List.of(description.listener())),
                distinct(descriptions, ConsumerDescription::topics),
                distinct(descriptions, description -> List.of(Objects.requireNonNullElse(description.groupId(), "-"))),
                first.keySource(),
                first.retention(),
                counts(Outcome.values(), Outcome::tag, tally::count),
                counts(DuplicateKind.values(), ConsumerReport::tag, tally::count),
                tally.hitRatio(),
                (lastHit != null) ? LastHit.of(lastHit) : null,
                oldestAge);
    }

    private static Set<String> distinct(
            List<ConsumerDescription> descriptions, Function<ConsumerDescription, Collection<String>> values) {
        return descriptions.stream()
                .flatMap(description -> values.apply(description).stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static <T> Map<String, Long> counts(T[] values, Function<T, String> name, Function<T, Long> count) {
        Map<String, Long> counts = new LinkedHashMap<>();
        Arrays.stream(values).forEach(value -> counts.put(name.apply(value), count.apply(value)));
        return counts;
    }

    private static String tag(DuplicateKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }
}
