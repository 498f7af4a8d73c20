package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** The table of calls that have begun: of each partition, the last one that was counted. */
final class StartTable {

    private static final String FIND = """
            select record_offset, message_id, starts
            from %s
            where consumer_id = ? and record_topic = ? and record_partition = ?
            """;

    private static final String UPDATE = """
            update %s
            set record_offset = ?, message_id = ?, starts = ?, started_at = %s
            where consumer_id = ? and record_topic = ? and record_partition = ?
            """;

    private static final String INSERT = """
            insert into %s (record_offset, message_id, starts, consumer_id, record_topic, record_partition)
            values (?, ?, ?, ?, ?, ?)
            """;

    private static final String CLEAR = """
            update %s set starts = 0 where consumer_id = ? and record_topic = ? and record_partition = ?
            """;

    /**
     * A message that a listener was called with.
     *
     * @param offset where its record stands in the partition
     * @param id its identity
     * @param starts how many calls of it have begun of which it is not known that they ended
     */
    record Start(long offset, MessageId id, int starts) {}

    private final JdbcTemplate jdbc;
    private final String find;
    private final String update;
    private final String insert;
    private final String clear;

    StartTable(IdempotencyDatabase database) {
        String table = database.inboxStartsTable();
        this.jdbc = database.jdbc(InboxTable.TIMEOUT_SECONDS);
        this.find = FIND.formatted(table);
        this.update = UPDATE.formatted(table, database.dialect().now());
        this.insert = INSERT.formatted(table);
        this.clear = CLEAR.formatted(table);
    }

    @Nullable
    Start find(String consumer, TopicPartition partition) {
        List<Start> found = this.jdbc.query(
                this.find,
                (row, number) -> new Start(row.getLong(1), new MessageId(consumer, row.getString(2)), row.getInt(3)),
                consumer,
                partition.topic(),
                partition.partition());
        return found.isEmpty() ? null : found.get(0);
    }

    void write(TopicPartition partition, Start start) {
        Object[] values = {
            start.offset(),
            start.id().value(),
            start.starts(),
            start.id().consumer(),
            partition.topic(),
            partition.partition()
        };
        if (this.jdbc.update(this.update, values) == 0) {
            this.jdbc.update(this.insert, values);
        }
    }

    void clear(String consumer, TopicPartition partition) {
        this.jdbc.update(this.clear, consumer, partition.topic(), partition.partition());
    }
}
