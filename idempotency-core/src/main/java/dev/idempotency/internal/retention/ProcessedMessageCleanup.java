package dev.idempotency.internal.retention;

import dev.idempotency.internal.event.ConsumerRegistry;
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
            ProcessedMessagePurge messages, ConsumerRegistry consumers, @Nullable Duration orphansAfter) {
        this("processed", messages, consumers::retentions, orphansAfter);
    }

    /**
     * The same for another table whose rows are forgotten alike.
     *
     * @param name the task's name
     * @param retentions how long rows are kept, by the consumers of this application
     */
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
                backlogs.add(new Drain((from, limit) -> this.messages.purgeExpired(consumer, retention, from, limit)));
            } else if (this.orphansAfter != null) {
                backlogs.add(new Drain(
                        (from, limit) -> this.messages.purgeAbandoned(consumer, this.orphansAfter, from, limit)));
            }
        }
        return backlogs;
    }

    /** Removes rows from a time on, which is where the last batch ended. */
    public static final class Drain implements Backlog {

        private final BiFunction<Instant, Integer, Purged> purge;
        private Instant from = ProcessedMessagePurge.BEGINNING;

        public Drain(BiFunction<Instant, Integer, Purged> purge) {
            this.purge = purge;
        }

        @Override
        public int remove(int limit) {
            Purged purged = this.purge.apply(this.from, limit);
            this.from = purged.upTo();
            return purged.rows();
        }
    }
}
