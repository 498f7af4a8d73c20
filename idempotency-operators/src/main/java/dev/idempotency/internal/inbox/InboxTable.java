package dev.idempotency.internal.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.ParameterizedPreparedStatementSetter;

/** Writes the table of the inbox. Rows are locked in the order of their ids, to avoid deadlocks. */
final class InboxTable {

    private static final Comparator<StoredMessage> BY_ID =
            Comparator.comparing(message -> message.id().value());

    /** For statements that are not part of a listener's transaction. */
    static final int TIMEOUT_SECONDS = 10;

    private static final int IDS_PER_QUERY = 500;

    private static final String INSERT_FAILED = """
            insert into %s (consumer_id, message_id, message_type, record_topic, record_partition, record_offset,
                record_key, record_headers, payload, payload_size, payload_omitted, status, last_error, attempts)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
            """;

    private static final String UPDATE_FAILED = """
            update %s
            set status = ?, attempts = attempts + 1, last_error = ?, processed_at = null, updated_at = %s
            where consumer_id = ? and message_id = ?
            """;

    private static final String LOCK = """
            select message_id from %s where consumer_id = ? and message_id in (%s) order by message_id for update
            """;

    private static final String MARK_REPLAYED = """
            update %s
            set status = 'replayed', replays = replays + 1, processed_at = null, updated_at = %s
            where consumer_id = ? and message_id = ? and status = ?
            """;

    private static final String DELETE = "delete from %s where consumer_id = ? and message_id = ?";

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final String table;
    private final String now;

    InboxTable(IdempotencyDatabase database, JdbcTemplate jdbc) {
        this.database = database;
        this.jdbc = jdbc;
        this.table = database.inboxTable();
        this.now = database.dialect().now();
    }

    /** Writes messages as processed, with the statement of {@link Dialect#inboxCompletionIn}. */
    void complete(String completion, List<StoredMessage> messages) {
        if (messages.size() == 1) {
            this.jdbc.update(completion, statement -> bind(statement, messages.get(0)));
        } else {
            batch(completion, sorted(messages), InboxTable::bind);
        }
    }

    /** Writes messages that are not in the table as failed, with that or another status. */
    void insertFailed(List<StoredMessage> messages, InboxStatus status, String error) {
        batch(INSERT_FAILED.formatted(this.table), sorted(messages), (statement, message) -> {
            bind(statement, message);
            statement.setString(12, status.toString());
            statement.setString(13, error);
        });
    }

    /** Writes that messages in the table have failed again. */
    void updateFailed(List<StoredMessage> messages, InboxStatus status, String error) {
        batch(UPDATE_FAILED.formatted(this.table, this.now), messages, (statement, message) -> {
            statement.setString(1, status.toString());
            statement.setString(2, error);
            bind(statement, 3, message.id());
        });
    }

    /** Locks the messages that are in the table, and returns their ids. */
    Set<MessageId> lock(List<MessageId> ids) {
        Set<MessageId> found = new HashSet<>();
        List<MessageId> ordered =
                ids.stream().sorted(Comparator.comparing(MessageId::value)).toList();
        for (int from = 0; from < ordered.size(); from += IDS_PER_QUERY) {
            List<MessageId> some = ordered.subList(from, Math.min(from + IDS_PER_QUERY, ordered.size()));
            String consumer = some.get(0).consumer();
            String sql = LOCK.formatted(this.table, "?" + ", ?".repeat(some.size() - 1));
            Object[] parameters = Stream.concat(
                            Stream.of(consumer), some.stream().map(MessageId::value))
                    .toArray();
            this.jdbc
                    .queryForList(sql, String.class, parameters)
                    .forEach(value -> found.add(new MessageId(consumer, value)));
        }
        return found;
    }

    /** Marks a message as replayed, unless its status has changed. */
    boolean markReplayed(MessageId id, InboxStatus expected) {
        return this.jdbc.update(
                        MARK_REPLAYED.formatted(this.table, this.now), id.consumer(), id.value(), expected.toString())
                == 1;
    }

    void delete(Collection<MessageId> ids) {
        batch(DELETE.formatted(this.table), ids, (statement, id) -> bind(statement, 1, id));
    }

    /** The database's time. */
    Instant now() {
        return EpochSeconds.toInstant(Objects.requireNonNull(
                this.jdbc.queryForObject("select " + this.database.dialect().secondsOf(this.now), BigDecimal.class)));
    }

    private static List<StoredMessage> sorted(List<StoredMessage> messages) {
        return messages.stream().sorted(BY_ID).toList();
    }

    private static void bind(PreparedStatement statement, StoredMessage message) throws SQLException {
        bind(statement, 1, message.id());
        statement.setString(3, message.type());
        statement.setString(4, message.coordinates().topic());
        statement.setInt(5, message.coordinates().partition());
        statement.setLong(6, message.coordinates().offset());
        statement.setBytes(7, message.key());
        statement.setString(8, message.headers());
        statement.setBytes(9, message.payload());
        statement.setObject(10, message.payloadSize(), Types.INTEGER);
        statement.setString(11, message.omitted());
    }

    private static void bind(PreparedStatement statement, int index, MessageId id) throws SQLException {
        statement.setString(index, id.consumer());
        statement.setString(index + 1, id.value());
    }

    private <T> void batch(String sql, Collection<T> rows, ParameterizedPreparedStatementSetter<T> binding) {
        if (!rows.isEmpty()) {
            this.jdbc.batchUpdate(sql, rows, rows.size(), binding);
        }
    }
}
