package dev.idempotency.reconciliation;

import dev.idempotency.reconciliation.ReconciliationReport.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Counts what a reconciliation finds, for those who ask meanwhile. */
final class ReconciliationProgress {

    private static final int MISSING_SHOWN = 1_000;

    private final String id = UUID.randomUUID().toString();
    private final ReconciliationRequest request;
    private final @Nullable String replayRefusal;
    private final Instant startedAt = Instant.now();
    private final long start = System.nanoTime();
    private final Map<RecordFate, Long> fates = new EnumMap<>(RecordFate.class);
    private final Map<String, @Nullable Long> judgedFrom = new TreeMap<>();
    private final List<MissingMessage> missing = new ArrayList<>();
    private @Nullable ReconciliationReport outcome;
    private boolean ended;
    private @Nullable String firstRefusal;
    private long records;
    private long done;
    private long read;
    private long replayed;
    private long refused;

    ReconciliationProgress(ReconciliationRequest request, @Nullable String replayRefusal) {
        this.request = request;
        this.replayRefusal = replayRefusal;
        for (RecordFate fate : RecordFate.values()) {
            this.fates.put(fate, 0L);
        }
    }

    synchronized void expect(long more) {
        this.records += more;
    }

    synchronized void judge(TopicPartition partition, @Nullable Long from) {
        this.judgedFrom.put(partition.toString(), from);
    }

    /** So many offsets are behind it. */
    synchronized void passed(long offsets) {
        this.done += offsets;
    }

    synchronized void found(RecordFate fate) {
        this.read++;
        this.fates.merge(fate, 1L, Long::sum);
    }

    synchronized void missing(MissingMessage message) {
        found(RecordFate.MISSING);
        if (this.missing.size() < MISSING_SHOWN) {
            this.missing.add(message);
        }
    }

    synchronized void replayed() {
        this.replayed++;
    }

    synchronized void refused(String why) {
        this.refused++;
        if (this.firstRefusal == null) {
            this.firstRefusal = why;
        }
    }

    /** How it will have ended: others hear of it at its end. */
    synchronized ReconciliationReport conclude(State how, @Nullable String why) {
        this.outcome = report(how, why);
        return this.outcome;
    }

    synchronized void end() {
        this.ended = true;
    }

    synchronized ReconciliationReport report() {
        return (this.ended && this.outcome != null) ? this.outcome : report(State.RUNNING, null);
    }

    private ReconciliationReport report(State state, @Nullable String failure) {
        Duration time = Duration.ofNanos(System.nanoTime() - this.start);
        double share = (this.records > 0) ? Math.min(1, (double) this.done / this.records) : 1;
        return new ReconciliationReport(
                this.id,
                this.request.consumer(),
                this.request.since(),
                this.request.replayFrom(),
                state,
                this.startedAt,
                time,
                this.records,
                (state == State.RUNNING && this.records == 0) ? 0 : share,
                this.read,
                Math.round(this.read * 1e9 / Math.max(1, time.toNanos())),
                new EnumMap<>(this.fates),
                new TreeMap<>(this.judgedFrom),
                List.copyOf(this.missing),
                this.replayed,
                this.refused,
                this.replayRefusal,
                (failure != null) ? failure : this.firstRefusal);
    }
}
