package dev.idempotency.internal.metrics;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Outcome;
import dev.idempotency.event.Stale;
import dev.idempotency.event.StepOutcome;
import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The meters of one consumer: all are registered at start-up, so that none is looked up per message. */
final class ConsumerMeters implements IdempotencyEventListener {

    private static final String CLAIMED = "claimed";
    private static final String DUPLICATE = "duplicate";
    private static final String MIXED = "mixed";
    private static final String TIMEOUT = "timeout";
    private static final String FAILED = "failed";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Outcome, Counter> messages;
    private final Map<DuplicateKind, Counter> hits;
    private final Map<String, Timer> claims;
    private final Map<StepOutcome, Counter> steps;
    private final Counter conflicts;
    private final Timer lag;
    private final Timer age;
    private final Timer lockWait;
    private final Timer listener;
    private final Counter retries;
    private final Counter deadLetters;
    private final @Nullable Counter positionResets;
    private final AtomicInteger refusedDeadLetters;
    private final AtomicInteger outage;

    ConsumerMeters(MeterRegistry registry, ConsumerDescription consumer) {
        this.registry = registry;
        this.tags = Tags.of(IdempotencyMeters.CONSUMER, consumer.name());
        this.messages = each(
                Arrays.asList(Outcome.values()),
                outcome -> counter(
                        IdempotencyMeters.MESSAGES,
                        "Messages by what became of them",
                        IdempotencyMeters.OUTCOME,
                        outcome.tag()));
        this.hits = each(
                kindsOf(consumer.strategy()),
                kind -> counter(
                        IdempotencyMeters.DEDUP_HITS,
                        "Duplicates by kind",
                        IdempotencyMeters.KIND,
                        kind.name().toLowerCase(Locale.ROOT)));
        this.claims = each(
                List.of(CLAIMED, DUPLICATE, MIXED, TIMEOUT, FAILED),
                result -> timer(
                        IdempotencyMeters.CLAIM,
                        "Claims, with the look-up of a duplicate's original",
                        IdempotencyMeters.RESULT,
                        result));
        this.steps = each(
                Arrays.asList(StepOutcome.values()),
                outcome -> counter(
                        IdempotencyMeters.STEPS,
                        "Steps by outcome",
                        IdempotencyMeters.OUTCOME,
                        outcome.name().toLowerCase(Locale.ROOT)));
        this.conflicts =
                counter(IdempotencyMeters.DEDUP_CONFLICTS, "Messages with the id of another one, and another payload");
        this.retries = counter(IdempotencyMeters.RETRIES, "Messages that were redelivered because they had failed");
        this.deadLetters = counter(IdempotencyMeters.DEAD_LETTERS, "Messages published to a dead-letter topic");
        this.positionResets = (consumer.strategy() == DeduplicationStrategy.OFFSET)
                ? counter(IdempotencyMeters.POSITION_RESETS, "Positions that no longer held and were reset")
                : null;
        this.lag = timer(IdempotencyMeters.LAG, "Ages of messages when they are delivered, also again");
        this.lockWait = timer(IdempotencyMeters.LOCK_WAIT, "How long listeners waited for the lock of a business key");
        this.listener = timer(
                IdempotencyMeters.LISTENER,
                "Transactions in which the listener ran, from the wait for a connection to the commit");
        this.age = Timer.builder(IdempotencyMeters.DEDUP_AGE)
                .description("How long before its duplicate a message was processed")
                .tags(this.tags)
                .serviceLevelObjectives(agesUpTo(consumer.retention()))
                .minimumExpectedValue(Duration.ofMillis(100))
                .maximumExpectedValue(consumer.retention().multipliedBy(2))
                .register(registry);
        this.refusedDeadLetters =
                gauge(IdempotencyMeters.DEAD_LETTERS_REFUSED, "Partitions that wait for their dead-letter topic");
        this.outage =
                gauge(IdempotencyMeters.OUTAGE, "1 while the consumer waits for the database, the broker or keys");
    }

    private static <K, M> Map<K, M> each(Collection<K> keys, Function<K, M> meter) {
        return keys.stream().collect(Collectors.toMap(Function.identity(), meter));
    }

    private AtomicInteger gauge(String name, String description) {
        AtomicInteger value = new AtomicInteger();
        Gauge.builder(name, value::get).description(description).tags(this.tags).register(this.registry);
        return value;
    }

    private Counter counter(String name, String description, String... more) {
        return Counter.builder(name)
                .description(description)
                .tags(this.tags.and(more))
                .register(this.registry);
    }

    private Timer timer(String name, String description, String... more) {
        return Timer.builder(name)
                .description(description)
                .tags(this.tags.and(more))
                .register(this.registry);
    }

    /** A constraint only reports that a message is a duplicate; other strategies also know the cause. */
    private static EnumSet<DuplicateKind> kindsOf(DeduplicationStrategy strategy) {
        EnumSet<DuplicateKind> unknown = EnumSet.of(DuplicateKind.UNKNOWN);
        return (strategy == DeduplicationStrategy.UNIQUE_CONSTRAINT) ? unknown : EnumSet.complementOf(unknown);
    }

    /** Fractions of the retention: whether the window is long enough is seen at its end, not in seconds. */
    private static Duration[] agesUpTo(Duration retention) {
        return LongStream.of(10_000, 1_000, 100, 10, 4, 2, 1)
                .mapToObj(retention::dividedBy)
                .filter(age -> age.compareTo(Duration.ofMillis(1)) >= 0)
                .toArray(Duration[]::new);
    }

    @Override
    public void delivered(Instant oldest) {
        this.lag.record(Duration.between(oldest, Instant.now()));
    }

    @Override
    public void claimAnswered(int claimed, int duplicates, long nanos) {
        String result = (duplicates == 0) ? CLAIMED : (claimed == 0) ? DUPLICATE : MIXED;
        this.claims.get(result).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void claimFailed(RuntimeException reason, long nanos) {
        String result = (reason instanceof ClaimTimeoutException) ? TIMEOUT : FAILED;
        this.claims.get(result).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void lockWaited(long nanos) {
        this.lockWait.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        this.messages.get(Outcome.PROCESSED).increment();
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        this.messages.get(Outcome.DUPLICATE).increment();
        this.hits.get(duplicate.kind()).increment();
        if (duplicate.age() != null) {
            this.age.record(duplicate.age());
        }
    }

    @Override
    public void conflict(Conflict conflict) {
        this.conflicts.increment();
    }

    @Override
    public void stale(Stale stale) {
        this.messages.get(Outcome.STALE).increment();
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        this.messages.get(Outcome.MISSING_KEY).increment();
    }

    @Override
    public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
        this.messages.get(Outcome.FAILED).increment();
    }

    @Override
    public void step(MessageId id, String name, StepOutcome outcome) {
        this.steps.get(outcome).increment();
    }

    @Override
    public void committed(long nanos) {
        this.listener.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void retried(int messages) {
        this.retries.increment(messages);
    }

    @Override
    public void deadLettered(RecordCoordinates coordinates) {
        this.deadLetters.increment();
    }

    @Override
    public void positionReset(RecordCoordinates first) {
        if (this.positionResets != null) {
            this.positionResets.increment();
        }
    }

    @Override
    public void deadLettersRefused(int partitions) {
        this.refusedDeadLetters.set(partitions);
    }

    @Override
    public void outageBegan(Throwable cause) {
        this.outage.set(1);
    }

    @Override
    public void outageEnded(long nanos) {
        this.outage.set(0);
    }
}
