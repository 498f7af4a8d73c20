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
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The meters of one consumer: all are registered at start-up, so that none is looked up per message. */
final class ConsumerMeters implements IdempotencyEventListener {

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Outcome, Counter> messages = new EnumMap<>(Outcome.class);
    private final Map<DuplicateKind, Counter> hits = new EnumMap<>(DuplicateKind.class);
    private final Map<ClaimResult, Timer> claims = new EnumMap<>(ClaimResult.class);
    private final Map<StepOutcome, Counter> steps = new EnumMap<>(StepOutcome.class);
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
        for (Outcome outcome : Outcome.values()) {
            this.messages.put(
                    outcome,
                    counter(
                            IdempotencyMeters.MESSAGES,
                            "Messages by what became of them",
                            IdempotencyMeters.OUTCOME,
                            outcome.tag()));
        }
        for (DuplicateKind kind : kindsOf(consumer.strategy())) {
            String tag = kind.name().toLowerCase(Locale.ROOT);
            this.hits.put(
                    kind, counter(IdempotencyMeters.DEDUP_HITS, "Duplicates by kind", IdempotencyMeters.KIND, tag));
        }
        for (ClaimResult result : ClaimResult.values()) {
            this.claims.put(
                    result,
                    timer(IdempotencyMeters.CLAIM, "Claims, with the look-up of a duplicate's original")
                            .tag(IdempotencyMeters.RESULT, result.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
        for (StepOutcome outcome : StepOutcome.values()) {
            this.steps.put(
                    outcome,
                    counter(IdempotencyMeters.STEPS, "Steps by outcome", IdempotencyMeters.OUTCOME, outcome.tag()));
        }
        this.conflicts =
                counter(IdempotencyMeters.DEDUP_CONFLICTS, "Messages with the id of another one, and another payload");
        this.retries = counter(IdempotencyMeters.RETRIES, "Messages that were redelivered because they had failed");
        this.deadLetters = counter(IdempotencyMeters.DEAD_LETTERS, "Messages published to a dead-letter topic");
        this.positionResets = (consumer.strategy() == DeduplicationStrategy.OFFSET)
                ? counter(IdempotencyMeters.POSITION_RESETS, "Positions that no longer held and were reset")
                : null;
        this.lag = timer(IdempotencyMeters.LAG, "Ages of messages when they are delivered, also again")
                .register(registry);
        this.lockWait = timer(IdempotencyMeters.LOCK_WAIT, "How long listeners waited for the lock of a business key")
                .register(registry);
        this.listener = timer(
                        IdempotencyMeters.LISTENER,
                        "Transactions in which the listener ran, from the wait for a connection to the commit")
                .register(registry);
        this.age = timer(IdempotencyMeters.DEDUP_AGE, "How long before its duplicate a message was processed")
                .serviceLevelObjectives(agesUpTo(consumer.retention()))
                .minimumExpectedValue(Duration.ofMillis(100))
                .maximumExpectedValue(consumer.retention().multipliedBy(2))
                .register(registry);
        this.refusedDeadLetters =
                gauge(IdempotencyMeters.DEAD_LETTERS_REFUSED, "Partitions that wait for their dead-letter topic");
        this.outage =
                gauge(IdempotencyMeters.OUTAGE, "1 while the consumer waits for the database, the broker or keys");
    }

    private AtomicInteger gauge(String name, String description) {
        AtomicInteger value = new AtomicInteger();
        Gauge.builder(name, value, AtomicInteger::get)
                .description(description)
                .tags(this.tags)
                .strongReference(true)
                .register(this.registry);
        return value;
    }

    private Counter counter(String name, String description, String... tags) {
        return Counter.builder(name)
                .description(description)
                .tags(this.tags.and(tags))
                .register(this.registry);
    }

    private Timer.Builder timer(String name, String description) {
        return Timer.builder(name).description(description).tags(this.tags);
    }

    /** A constraint says no more than that it is a duplicate; everybody else knows whose doing it is. */
    private static Set<DuplicateKind> kindsOf(DeduplicationStrategy strategy) {
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
        this.claims.get(ClaimResult.of(claimed, duplicates)).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void claimFailed(RuntimeException reason, long nanos) {
        this.claims.get(ClaimResult.of(reason)).record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void lockWaited(long nanos) {
        this.lockWait.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        count(Outcome.PROCESSED, 1);
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        count(Outcome.DUPLICATE, 1);
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
        count(Outcome.STALE, 1);
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        count(Outcome.MISSING_KEY, 1);
    }

    @Override
    public void failed(RecordCoordinates coordinates, @Nullable Throwable failure) {
        count(Outcome.FAILED, 1);
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

    private void count(Outcome outcome, int messages) {
        this.messages.get(outcome).increment(messages);
    }

    /** How a claim was answered. */
    private enum ClaimResult {
        CLAIMED,
        DUPLICATE,
        /** A batch with some of each. */
        MIXED,
        TIMEOUT,
        FAILED;

        static ClaimResult of(int claimed, int duplicates) {
            if (duplicates == 0) {
                return CLAIMED;
            }
            return (claimed == 0) ? DUPLICATE : MIXED;
        }

        static ClaimResult of(RuntimeException failure) {
            return (failure instanceof ClaimTimeoutException) ? TIMEOUT : FAILED;
        }
    }
}
