package dev.idempotency.internal.retention;

import dev.idempotency.internal.retention.ProcessedMessageCleanup.Drain;
import dev.idempotency.internal.store.RingPurge;
import dev.idempotency.internal.store.RingPurge.Deleted;
import dev.idempotency.internal.store.RingPurge.Limits;
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
        Limits limits = new Limits(this.retentions.get(), this.orphansAfter);
        this.ring.noteActivity();
        List<Backlog> backlogs = new ArrayList<>();
        List<Integer> due = this.ring.dueSlots();
        for (int slot : due) {
            Map<String, Instant> cutoffs = this.ring.cutoffs(slot, limits);
            backlogs.add(limit -> {
                this.ring.empty(slot, cutoffs);
                return 0;
            });
            if (slot == due.get(due.size() - 1)) {
                cutoffs.forEach((consumer, cutoff) -> backlogs.add(new SlotDrain(slot, consumer, cutoff)));
            }
        }
        limits.retentions()
                .forEach((consumer, retention) -> backlogs.add(new Drain(
                        (from, limit) -> this.ring.activity().purgeExpired(consumer, retention, from, limit))));
        return backlogs;
    }

    /** Deletes rows of a slot from an id on, which is where the last batch ended. */
    private final class SlotDrain implements Backlog {

        private final int slot;
        private final String consumer;
        private final Instant cutoff;
        private String from = "";

        SlotDrain(int slot, String consumer, Instant cutoff) {
            this.slot = slot;
            this.consumer = consumer;
            this.cutoff = cutoff;
        }

        @Override
        public int remove(int limit) {
            Deleted deleted = RingCleanup.this.ring.delete(this.slot, this.consumer, this.cutoff, this.from, limit);
            this.from = deleted.upTo();
            return deleted.rows();
        }
    }
}
