package dev.idempotency.internal.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.retention.ProcessedMessageCleanup.Drain;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.internal.store.ProcessedMessagePurge.Purged;
import dev.idempotency.retention.CleanupTask;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Forgets messages of the inbox, counted from their last change: processed ones after one time, failed, unknown, forgotten
 * and replayed ones after another. What has been processed is remembered elsewhere.
 *
 * <p>Messages of consumers that are not in this application, for which other times may hold, are all kept until the
 * consumer has been idle for long enough to count as abandoned, and then all removed.
 */
public final class InboxCleanup implements CleanupTask {

    private static final String EXPIRED = """
            select consumer_id, message_id, %1$s
            from %2$s
            where status = ? and updated_at >= %3$s and updated_at < %3$s and consumer_id in (%4$s)
            order by updated_at
            %5$s
            for update skip locked
            """;

    private static final String LAST = "select %s from %s where consumer_id = ?";

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final Dialect dialect;
    private final InboxTable table;
    private final ConsumerRegistry consumers;
    private final @Nullable Duration orphansAfter;
    private final Duration processed;
    private final Duration failed;

    /** {@code orphansAfter} is {@code null} if consumers of other applications are never touched. */
    public InboxCleanup(
            IdempotencyDatabase database,
            ConsumerRegistry consumers,
            @Nullable Duration orphansAfter,
            Duration processed,
            Duration failed) {
        this.database = database;
        this.jdbc = database.jdbc(InboxTable.TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        this.dialect = database.dialect();
        this.table = new InboxTable(database, this.jdbc);
        this.consumers = consumers;
        this.orphansAfter = orphansAfter;
        this.processed = processed;
        this.failed = failed;
    }

    @Override
    public String name() {
        return "inbox";
    }

    @Override
    public List<Backlog> backlogs() {
        Set<String> known = this.consumers.names();
        List<String> present = consumersInTable();
        List<Backlog> backlogs = new ArrayList<>();
        if (!Collections.disjoint(known, present)) {
            addBacklogs(backlogs, known, this.processed, this.failed);
        }
        Duration idle = this.orphansAfter;
        if (idle != null) {
            List<String> abandoned = present.stream()
                    .filter(consumer -> !known.contains(consumer) && isAbandoned(consumer, idle))
                    .toList();
            addBacklogs(backlogs, abandoned, idle, idle);
        }
        return backlogs;
    }

    private void addBacklogs(List<Backlog> backlogs, Collection<String> names, Duration processed, Duration failed) {
        for (InboxStatus status : InboxStatus.values()) {
            Duration age = (status == InboxStatus.PROCESSED) ? processed : failed;
            backlogs.add(new Drain<>(
                    ProcessedMessagePurge.BEGINNING, (from, limit) -> purge(names, status, age, from, limit)));
        }
    }

    /**
     * Deletes messages of some consumers with a status that have not changed for so long, the oldest first. Skips locked rows.
     *
     * @param from messages that changed before are passed over
     * @return how many were deleted, and up to when there are no more
     */
    Purged<Instant> purge(Collection<String> consumers, InboxStatus status, Duration age, Instant from, int limit) {
        return this.transaction.execute(transaction -> deleteExpired(consumers, status, age, from, limit));
    }

    Purged<Instant> deleteExpired(
            Collection<String> consumers, InboxStatus status, Duration age, Instant from, int limit) {
        Instant before = before(age);
        if (consumers.isEmpty() || !before.isAfter(from)) {
            return new Purged<>(0, from);
        }
        List<Object> parameters = new ArrayList<>(
                List.of(status.toString(), EpochSeconds.toDecimal(from), EpochSeconds.toDecimal(before)));
        parameters.addAll(consumers);
        String sql = EXPIRED.formatted(
                this.dialect.secondsOf("updated_at"),
                this.database.inboxTable(),
                this.dialect.timeOfSeconds(),
                "?" + ", ?".repeat(consumers.size() - 1),
                this.dialect.rows(0, limit));
        List<Instant> times = new ArrayList<>();
        List<MessageId> expired = this.jdbc.query(
                sql,
                (row, number) -> {
                    times.add(EpochSeconds.toInstant(row.getBigDecimal(3)));
                    return new MessageId(row.getString(1), row.getString(2));
                },
                parameters.toArray());
        this.table.delete(expired);
        boolean more = expired.size() >= limit;
        return new Purged<>(expired.size(), more ? times.get(times.size() - 1) : before);
    }

    /** The consumers that have messages in the table, whether or not they are in this application. */
    List<String> consumersInTable() {
        return this.transaction.execute(
                transaction -> this.database.consumersIn(this.database.inboxTable(), this.jdbc));
    }

    /** Whether a consumer has processed nothing, and its messages here have not changed, for so long. */
    boolean isAbandoned(String consumer, Duration idle) {
        return this.transaction.execute(transaction -> {
            Instant before = before(idle);
            // The inbox has no index for this question: it is asked last.
            return isBefore(last("processed_at", this.database.activityTable(), consumer), before)
                    && isBefore(last("updated_at", this.database.inboxTable(), consumer), before);
        });
    }

    private @Nullable BigDecimal last(String time, String from, String consumer) {
        return this.jdbc.queryForObject(
                LAST.formatted(this.dialect.secondsOf("max(" + time + ")"), from), BigDecimal.class, consumer);
    }

    private static boolean isBefore(@Nullable BigDecimal seconds, Instant time) {
        return seconds == null || EpochSeconds.toInstant(seconds).isBefore(time);
    }

    private Instant before(Duration age) {
        return this.table.now().minus(age);
    }
}
