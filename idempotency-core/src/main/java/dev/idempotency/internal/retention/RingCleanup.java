package dev.idempotency.internal.retention;

import dev.idempotency.internal.retention.ProcessedMessageCleanup.Drain;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.internal.store.RingPurge;
import dev.idempotency.retention.CleanupTask;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Empties the slots of a ring. Before it is used again, expired rows are deleted from a slot that could not be emptied.
 *
 * <p>It comes before the tasks that ask when consumers were active.
 */
public final class RingCleanup implements CleanupTask {

    private final RingPurge ring;
    private final Supplier<Map<String, Duration>> retentions;
    private final @Nullable Duration orphansAfter;

    /** {@code orphansAfter} is {@code null} if consumers of other applications are never touched. */
    public RingCleanup(RingPurge ring, Supplier<Map<String, Duration>> retentions, @Nullable Duration orphansAfter) {
        this.ring = ring;
        this.retentions = retentions;
        this.orphansAfter = orphansAfter;
    }

    @Override
    public String name() {
        return "ring";
    }

    /** Rows that go with their slot are not counted. */
    @Override
    public List<Backlog> backlogs() {
        Map<String, Duration> known = this.retentions.get();
        this.ring.noteActivity();
        List<Backlog> backlogs = new ArrayList<>();
        List<Integer> due = this.ring.dueSlots();
        for (int slot : due) {
            Map<String, Instant> cutoffs = this.ring.cutoffs(slot, known, this.orphansAfter);
            backlogs.add(limit -> {
                this.ring.empty(slot, cutoffs);
                return 0;
            });
            if (slot == due.get(due.size() - 1)) {
                cutoffs.forEach((consumer, cutoff) -> backlogs.add(
                        new Drain<>("", (after, limit) -> this.ring.delete(slot, consumer, cutoff, after, limit))));
            }
        }
        known.forEach((consumer, retention) -> backlogs.add(new Drain<>(
                ProcessedMessagePurge.BEGINNING,
                (from, limit) -> this.ring.activity().purgeExpired(consumer, retention, from, limit))));
        return backlogs;
    }
}
