package dev.idempotency.actuate;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.observe.Outcome;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts what became of one consumer's messages in this instance, since its start. */
final class ConsumerTally implements ConsumerObserver {

    private final Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
    private final Map<DuplicateKind, LongAdder> kinds = new EnumMap<>(DuplicateKind.class);
    private volatile @Nullable Hit lastHit;

    /**
     * A duplicate and when it was dropped.
     *
     * @param at when, by the clock of this instance
     * @param duplicate the duplicate
     */
    record Hit(Instant at, Duplicate duplicate) {}

    ConsumerTally() {
        for (Outcome outcome : Outcome.values()) {
            this.outcomes.put(outcome, new LongAdder());
        }
        for (DuplicateKind kind : DuplicateKind.values()) {
            this.kinds.put(kind, new LongAdder());
        }
    }

    /** How many messages had this outcome. */
    long count(Outcome outcome) {
        return this.outcomes.get(outcome).sum();
    }

    /** How many duplicates were of this kind. */
    long count(DuplicateKind kind) {
        return this.kinds.get(kind).sum();
    }

    /** The last duplicate, if there was one. */
    @Nullable
    Hit lastHit() {
        return this.lastHit;
    }

    /** The share of duplicates in what was processed or dropped; {@code null} if nothing was. */
    @Nullable
    Double hitRatio() {
        long duplicates = count(Outcome.DUPLICATE);
        long all = duplicates + count(Outcome.PROCESSED);
        return (all > 0) ? (double) duplicates / all : null;
    }

    @Override
    public void processed(MessageId id, RecordCoordinates coordinates) {
        this.outcomes.get(Outcome.PROCESSED).increment();
    }

    @Override
    public void duplicate(Duplicate duplicate) {
        this.outcomes.get(Outcome.DUPLICATE).increment();
        this.kinds.get(duplicate.kind()).increment();
        this.lastHit = new Hit(Instant.now(), duplicate);
    }

    @Override
    public void missingKey(RecordCoordinates coordinates) {
        this.outcomes.get(Outcome.MISSING_KEY).increment();
    }

    @Override
    public void failed(int messages) {
        this.outcomes.get(Outcome.FAILED).add(messages);
    }
}
