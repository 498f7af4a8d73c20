package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.Purged;
import dev.idempotency.database.Seconds;
import dev.idempotency.database.Tables;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** What is removed from the table of the inbox by its cleanup. Rows that somebody else holds are left for another time. */
final class InboxRemoval {

    private static final String EXPIRED = """
            select consumer_id, message_id, %s
            from %s
            where status = ? and updated_at >= %s and updated_at < %s and consumer_id in (%s)
            order by updated_at
            %s
            for update skip locked
            """;

    private static final String NEXT_CONSUMER = """
            select consumer_id from %s where consumer_id > ? order by consumer_id %s
            """;

    private static final String LAST = "select %s from %s where consumer_id = ?";

    private static final String UNCHANGED = """
            select message_id
            from %s
            where consumer_id = ? and message_id > ? and updated_at < %s
            order by message_id
            %s
            for update skip locked
            """;

    private final JdbcTemplate jdbc;
    private final Dialect dialect;
    private final InboxTable table;
    private final String inbox;
    private final String processed;

    InboxRemoval(JdbcTemplate jdbc, Dialect dialect, Tables tables) {
        this.jdbc = jdbc;
        this.dialect = dialect;
        this.table = new InboxTable(jdbc, dialect, tables);
        this.inbox = tables.inbox(dialect);
        this.processed = tables.processed(dialect);
    }

    /**
     * Deletes rows of some consumers with a status that have not changed for so long, the oldest first.
     *
     * @return what was deleted, and up to when has been looked
     */
    Purged deleteExpired(Collection<String> consumers, InboxStatus status, Duration age, Instant from, int limit) {
        Instant before = before(age);
        if (consumers.isEmpty() || !before.isAfter(from)) {
            return new Purged(0, from);
        }
        List<Object> parameters = new ArrayList<>();
        parameters.add(status.toString());
        parameters.add(Seconds.of(from));
        parameters.add(Seconds.of(before));
        parameters.addAll(consumers);
        String time = this.dialect.timeOfSeconds();
        String sql = EXPIRED.formatted(
                this.dialect.secondsOf("updated_at"),
                this.inbox,
                time,
                time,
                "?" + ", ?".repeat(consumers.size() - 1),
                this.dialect.rows(0, limit));
        List<Instant> times = new ArrayList<>();
        List<MessageId> expired = this.jdbc.query(
                sql,
                (row, number) -> {
                    times.add(Seconds.toInstant(row.getBigDecimal(3)));
                    return new MessageId(row.getString(1), row.getString(2));
                },
                parameters.toArray());
        this.table.delete(expired);
        boolean more = expired.size() >= limit;
        return new Purged(expired.size(), more ? times.get(times.size() - 1) : before);
    }

    /** The consumers that have messages in the table, found by hopping from one to the next through the index. */
    List<String> consumers() {
        List<String> consumers = new ArrayList<>();
        String sql = NEXT_CONSUMER.formatted(this.inbox, this.dialect.rows(0, 1));
        List<String> next = this.jdbc.queryForList(sql, String.class, "");
        while (!next.isEmpty()) {
            consumers.add(next.get(0));
            next = this.jdbc.queryForList(sql, String.class, next.get(0));
        }
        return consumers;
    }

    /** Whether a consumer has processed nothing, and nothing has become of its messages here, for so long. */
    boolean isAbandoned(String consumer, Duration idle) {
        Instant before = before(idle);
        // The inbox has no index for this question: it is asked last.
        return isBefore(last("processed_at", this.processed, consumer), before)
                && isBefore(last("updated_at", this.inbox, consumer), before);
    }

    private @Nullable BigDecimal last(String time, String from, String consumer) {
        return this.jdbc.queryForObject(
                LAST.formatted(this.dialect.secondsOf("max(" + time + ")"), from), BigDecimal.class, consumer);
    }

    private static boolean isBefore(@Nullable BigDecimal seconds, Instant time) {
        return seconds == null || Seconds.toInstant(seconds).isBefore(time);
    }

    /**
     * Deletes rows of one consumer that have not changed for so long, in the order of their ids.
     *
     * @param after the id after which to go on
     * @return the ids that were deleted
     */
    List<String> deleteUnchanged(String consumer, Duration idle, String after, int limit) {
        List<String> ids = this.jdbc.queryForList(
                UNCHANGED.formatted(this.inbox, this.dialect.timeOfSeconds(), this.dialect.rows(0, limit)),
                String.class,
                consumer,
                after,
                Seconds.of(before(idle)));
        this.table.delete(ids.stream().map(id -> new MessageId(consumer, id)).toList());
        return ids;
    }

    private Instant before(Duration age) {
        return this.table.now().minus(age);
    }
}
