package dev.idempotency.internal.retention;

import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.internal.store.ProcessedMessagePurge.Purged;
import dev.idempotency.retention.CleanupTask;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Forgets processed messages.
 *
 * <p>Rows of a consumer of this application are removed when they are older than its retention, counted from its own last
 * activity. Rows of any other consumer, whose retention is not known here, are all kept until it has been idle for long
 * enough to count as abandoned; then all are removed.
 */
public final class ProcessedMessageCleanup implements CleanupTask {

    private final String name;
    private final ProcessedMessagePurge messages;
    private final Supplier<Map<String, Duration>> retentions;
    private final @Nullable Duration orphansAfter;

    /** {@code orphansAfter} is {@code null} if consumers of other applications are never touched. */
    public ProcessedMessageCleanup(
            String name,
            ProcessedMessagePurge messages,
            Supplier<Map<String, Duration>> retentions,
            @Nullable Duration orphansAfter) {
        this.name = name;
        this.messages = messages;
        this.retentions = retentions;
        this.orphansAfter = orphansAfter;
    }

    @Override
    public String name() {
        return this.name;
    }

    @Override
    public List<Backlog> backlogs() {
        List<Backlog> backlogs = new ArrayList<>();
        Map<String, Duration> known = this.retentions.get();
        // Only those that have rows: who keeps no results need not have a right to write their table.
        for (String consumer : this.messages.consumers()) {
            Duration retention = known.get(consumer);
            if (retention != null) {
                backlogs.add(drain((from, limit) -> this.messages.purgeExpired(consumer, retention, from, limit)));
            } else if (this.orphansAfter != null) {
                backlogs.add(
                        drain((from, limit) -> this.messages.purgeAbandoned(consumer, this.orphansAfter, from, limit)));
            }
        }
        return backlogs;
    }

    private static Backlog drain(BiFunction<Instant, Integer, Purged<Instant>> purge) {
        return new Drain<>(ProcessedMessagePurge.BEGINNING, purge);
    }

    /** Removes rows from a time or an id on, which is where the last batch ended. */
    public static final class Drain<P> implements Backlog {

        private final BiFunction<P, Integer, Purged<P>> purge;
        private P from;

        public Drain(P from, BiFunction<P, Integer, Purged<P>> purge) {
            this.from = from;
            this.purge = purge;
        }

        @Override
        public int remove(int limit) {
            Purged<P> purged = this.purge.apply(this.from, limit);
            this.from = purged.upTo();
            return purged.rows();
        }
    }
}
