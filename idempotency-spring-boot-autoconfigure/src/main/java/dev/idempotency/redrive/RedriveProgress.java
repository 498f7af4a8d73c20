package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.redrive.RedriveReport.Refusal;
import dev.idempotency.redrive.RedriveReport.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Counts what a redrive does, for those who ask meanwhile. */
final class RedriveProgress {

    private static final int REFUSALS_SHOWN = 20;

    private final String consumer;
    private final String selection;
    private final @Nullable Set<String> groups;
    private final Instant startedAt = Instant.now();
    private final List<Refusal> refusals = new ArrayList<>();
    private @Nullable RedriveReport outcome;
    private boolean ended;
    private long records;
    private long read;
    private long sent;
    private long parked;
    private long expired;
    private long astray;
    private long refused;

    RedriveProgress(String consumer, String selection, @Nullable Set<String> groups) {
        this.consumer = consumer;
        this.selection = selection;
        this.groups = groups;
    }

    synchronized void expect(long more) {
        this.records += more;
    }

    synchronized void read(long more) {
        this.read += more;
    }

    synchronized void sent() {
        this.sent++;
    }

    synchronized void stays(DeadLetterStatus status) {
        this.parked += (status == DeadLetterStatus.PARKED) ? 1 : 0;
        this.expired += (status == DeadLetterStatus.EXPIRED) ? 1 : 0;
        this.astray += (status == DeadLetterStatus.ASTRAY) ? 1 : 0;
    }

    synchronized void refused(RecordCoordinates record, String reason) {
        this.refused++;
        if (this.refusals.size() < REFUSALS_SHOWN) {
            this.refusals.add(new Refusal(record, reason));
        }
    }

    /** How it will have ended: others hear of it at its end. */
    synchronized RedriveReport conclude(State how, @Nullable String why) {
        this.outcome = report(how, why);
        return this.outcome;
    }

    synchronized void end() {
        this.ended = true;
    }

    synchronized RedriveReport report() {
        return (this.ended && this.outcome != null) ? this.outcome : report(State.RUNNING, null);
    }

    private RedriveReport report(State state, @Nullable String failure) {
        return new RedriveReport(
                this.consumer,
                this.selection,
                state,
                this.startedAt,
                (state != State.RUNNING) ? Instant.now() : null,
                this.records,
                this.read,
                this.sent,
                this.parked,
                this.expired,
                this.astray,
                this.refused,
                List.copyOf(this.refusals),
                this.groups,
                failure);
    }
}
