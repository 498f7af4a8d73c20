package dev.idempotency.internal.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.job.Page;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Reads the table of the inbox. */
final class InboxReader {

    private static final String ENTRY_COLUMNS =
            "consumer_id, message_id, status, message_type, record_topic, record_partition, record_offset, attempts,"
                    + " replays, last_error, received_at, processed_at, updated_at, payload_size, payload_omitted";

    private static final String ORDER = "order by updated_at desc, consumer_id desc, message_id desc";

    private static final String PAGE = """
            select %s
            from (%s) as found
            %s
            %s
            """;

    /** Of one status, so that the index has them in order: however many there are, as many are read as are asked for. */
    private static final String PART_OF_PAGE = """
            (select %s
            from %s
            where %s
            %s
            %s)
            """;

    /** The time alone comes first, for the index. */
    private static final String AFTER =
            "updated_at <= %1$s and (updated_at < %1$s or (consumer_id, message_id) < (?, ?))";

    private static final String ONE = """
            select %s, record_key, record_headers, payload
            from %s
            where consumer_id = ? and message_id = ?
            """;

    /** In the order in which they were sent, as far as there is one. */
    private static final String REPLAYABLE = """
            select message_id
            from %s
            where consumer_id = ? and status = 'failed' and payload_omitted is null and %s <= ?
                and message_id not like '%%%s%%'
            order by record_topic, record_partition, record_offset
            %s
            """;

    private static final String STATUSES = """
            select message_id, status
            from %s
            where consumer_id = ? and message_id in (%s)
            """;

    private static final String NOT_REPLAYABLE = """
            select count(*)
            from %s
            where consumer_id = ? and status = 'failed' and payload_omitted is not null
            """;

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final Dialect dialect;
    private final String table;
    private final String entry;

    InboxReader(IdempotencyDatabase database) {
        this.database = database;
        this.jdbc = database.jdbc(InboxTable.TIMEOUT_SECONDS);
        this.dialect = database.dialect();
        this.table = database.inboxTable();
        this.entry = Pattern.compile("\\w+_at")
                .matcher(ENTRY_COLUMNS)
                .replaceAll(time -> this.dialect.secondsOf(time.group()) + " as " + time.group() + "_seconds");
    }

    /** Where a page ended, as text that is part of URLs. Nothing in the table contains a NUL character. */
    private record Position(BigDecimal seconds, String consumer, String messageId) {

        static String of(InboxEntry entry) {
            String text = EpochSeconds.toDecimal(entry.updatedAt()).unscaledValue() + "\0"
                    + entry.id().consumer() + "\0" + entry.id().value();
            return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
        }

        static Position parse(String text) {
            try {
                String[] parts = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8).split("\0", 3);
                return new Position(BigDecimal.valueOf(Long.parseLong(parts[0]), 6), parts[1], parts[2]);
            } catch (IllegalArgumentException | IndexOutOfBoundsException ex) {
                throw new IllegalArgumentException(
                        "A page can only continue after what the page before gave as next", ex);
            }
        }
    }

    Page<InboxEntry> find(InboxQuery query) {
        Position after = (query.after() != null) ? Position.parse(query.after()) : null;
        List<InboxStatus> statuses = (query.status() != null) ? List.of(query.status()) : List.of(InboxStatus.values());
        List<String> parts = new ArrayList<>();
        List<Object> parameters = new ArrayList<>();
        String time = this.dialect.timeOfSeconds();
        for (InboxStatus status : statuses) {
            List<String> conditions = new ArrayList<>();
            add("status = ?", status, conditions, parameters);
            add("consumer_id = ?", query.consumer(), conditions, parameters);
            add("message_type = ?", query.type(), conditions, parameters);
            add("updated_at >= " + time, query.since(), conditions, parameters);
            add("updated_at < " + time, query.until(), conditions, parameters);
            if (after != null) {
                conditions.add(AFTER.formatted(time));
                parameters.addAll(List.of(after.seconds(), after.seconds(), after.consumer(), after.messageId()));
            }
            parts.add(PART_OF_PAGE.formatted(
                    ENTRY_COLUMNS,
                    this.table,
                    String.join(" and ", conditions),
                    ORDER,
                    this.dialect.rows(0, query.size() + 1)));
        }
        List<InboxEntry> found = this.database.inTransaction(() -> this.jdbc.query(
                PAGE.formatted(
                        this.entry, String.join("union all ", parts), ORDER, this.dialect.rows(0, query.size() + 1)),
                (row, number) -> entry(row),
                parameters.toArray()));
        if (found.size() <= query.size()) {
            return new Page<>(found, null);
        }
        return new Page<>(found.subList(0, query.size()), Position.of(found.get(query.size() - 1)));
    }

    private static void add(
            String condition, @Nullable Object value, List<String> conditions, List<Object> parameters) {
        if (value != null) {
            conditions.add(condition);
            parameters.add((value instanceof Instant instant) ? EpochSeconds.toDecimal(instant) : value.toString());
        }
    }

    /** The statuses of messages of one consumer, as far as they are there. */
    Map<MessageId, InboxStatus> statuses(Collection<MessageId> ids) {
        String consumer = ids.iterator().next().consumer();
        String sql = STATUSES.formatted(this.table, "?" + ", ?".repeat(ids.size() - 1));
        Object[] parameters = Stream.concat(Stream.of(consumer), ids.stream().map(MessageId::value))
                .toArray();
        return this.database
                .inTransaction(() -> this.jdbc.query(
                        sql,
                        (row, number) ->
                                Map.entry(new MessageId(consumer, row.getString(1)), InboxStatus.of(row.getString(2))),
                        parameters))
                .stream()
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    @Nullable
    InboxMessage find(MessageId id) {
        List<InboxMessage> found = this.database.inTransaction(() -> this.jdbc.query(
                ONE.formatted(this.entry, this.table),
                (row, number) -> new InboxMessage(
                        entry(row),
                        row.getBytes("record_key"),
                        HeaderLines.read(row.getString("record_headers")),
                        row.getBytes("payload")),
                id.consumer(),
                id.value()));
        return found.isEmpty() ? null : found.get(0);
    }

    /** Failed messages of a consumer that have not changed since a moment and whose payload was kept, oldest first. */
    List<MessageId> replayable(String consumer, Instant upTo, long offset, int limit) {
        return this.database.inTransaction(() -> this.jdbc.query(
                REPLAYABLE.formatted(
                        this.table,
                        this.dialect.secondsOf("updated_at"),
                        JdbcInboxRecorder.CONFLICT,
                        this.dialect.rows(offset, limit)),
                (row, number) -> new MessageId(consumer, row.getString(1)),
                consumer,
                EpochSeconds.toDecimal(upTo)));
    }

    /** How many failed messages of a consumer are without their payload. */
    long notReplayable(String consumer) {
        return Objects.requireNonNull(this.database.inTransaction(
                () -> this.jdbc.queryForObject(NOT_REPLAYABLE.formatted(this.table), Long.class, consumer)));
    }

    private static InboxEntry entry(ResultSet row) throws SQLException {
        BigDecimal processedAt = row.getBigDecimal("processed_at_seconds");
        return new InboxEntry(
                new MessageId(row.getString("consumer_id"), row.getString("message_id")),
                InboxStatus.of(row.getString("status")),
                row.getString("message_type"),
                new RecordCoordinates(
                        row.getString("record_topic"), row.getInt("record_partition"), row.getLong("record_offset")),
                row.getInt("attempts"),
                row.getInt("replays"),
                row.getString("last_error"),
                EpochSeconds.toInstant(row.getBigDecimal("received_at_seconds")),
                (processedAt != null) ? EpochSeconds.toInstant(processedAt) : null,
                EpochSeconds.toInstant(row.getBigDecimal("updated_at_seconds")),
                (Integer) row.getObject("payload_size"),
                row.getString("payload_omitted"));
    }
}
