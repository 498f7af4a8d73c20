package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.database.AnsweringClaimStatement;
import dev.idempotency.database.ClaimStatement;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.EpochSeconds;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.WriteProbe;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/** The table of processed messages, on the connection of the current transaction. */
public final class JdbcProcessedMessageStore implements ProcessedMessageStore {

    private static final Logger logger = LoggerFactory.getLogger(JdbcProcessedMessageStore.class);

    private static final Comparator<Claim> BY_ID =
            Comparator.comparing(claim -> claim.id().value());

    private static final int IDS_PER_QUERY = 500;

    private static final String FIND = """
            select message_id, record_topic, record_partition, record_offset, %s, %s, payload_digest
            from %s
            where consumer_id = ? and message_id in (%%s)
            """;

    /** One step in the primary key. */
    private static final String ANY = "select min(message_id) from %s where consumer_id = ?";

    /**
     * By time and not by offset: a record from before the consumer used the library may be retried or redriven, and then
     * leaves a row with its low offset.
     */
    private static final String FIRST = """
            select message.record_topic, message.record_partition, min(message.record_offset)
            from %1$s message
            join (
                select record_topic, record_partition, min(processed_at) as processed_at
                from %1$s
                where consumer_id = ?
                group by record_topic, record_partition
            ) first on first.record_topic = message.record_topic
                and first.record_partition = message.record_partition
                and first.processed_at = message.processed_at
            where message.consumer_id = ?
            group by message.record_topic, message.record_partition
            """;

    /** It reads all rows of a consumer. */
    private static final int FIRST_SECONDS = 300;

    private static final String DELETE = "delete from %s where consumer_id = ? and message_id = ?";

    /** So that it may be replayed, if it is in the inbox: what has merely expired stays marked as processed. */
    private static final String MARK_FORGOTTEN = """
            update %s
            set status = 'forgotten', updated_at = %s
            where consumer_id = ? and message_id = ? and status = 'processed'
            """;

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final ClaimStatement claim;
    private final @Nullable AnsweringClaimStatement answeringClaim;
    private final String find;
    private final String any;
    private final String delete;
    private final String markForgotten;
    private final String deleteResult;
    private final StoreStatisticsReader statistics;
    private final WriteProbe probe;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcProcessedMessageStore(IdempotencyDatabase database, Duration claimTimeout) {
        Dialect dialect = database.dialect();
        String table = database.processedTable();
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        this.claim = dialect.claimIn(table);
        this.answeringClaim = dialect.answeringClaimIn(table);
        this.find = FIND.formatted(dialect.secondsOf("processed_at"), dialect.secondsOfNow(), table);
        this.any = ANY.formatted(table);
        this.delete = DELETE.formatted(table);
        this.markForgotten = MARK_FORGOTTEN.formatted(database.inboxTable(), dialect.now());
        this.deleteResult = DELETE.formatted(database.resultTable());
        this.statistics = new StoreStatisticsReader(database);
        this.probe = new WriteProbe(database);
    }

    /** The database whose transactions a claim can be part of. */
    public IdempotencyDatabase database() {
        return this.database;
    }

    /** The data source whose transactions a claim can be part of. */
    public DataSource dataSource() {
        return this.database.dataSource();
    }

    @Override
    public Set<MessageId> claim(List<Claim> claims) {
        return this.transaction.claim(this.claim, sort(claims));
    }

    /**
     * One statement where the database has one. What it does not see is nevertheless a duplicate: somebody else has
     * committed it while the claim waited.
     */
    @Override
    public ClaimAnswer claimOrFind(List<Claim> claims) {
        AnsweringClaimStatement statement = this.answeringClaim;
        if (statement == null) {
            return ProcessedMessageStore.super.claimOrFind(claims);
        }
        Map<MessageId, ProcessedMessage> originals = new HashMap<>();
        String consumer = claims.get(0).id().consumer();
        ClaimStatement claiming = (connection, sorted, limit) -> statement.execute(connection, sorted, limit, row -> {
            ProcessedMessage original = read(row, consumer);
            originals.put(original.id(), original);
        });
        Set<MessageId> claimed = this.transaction.claim(claiming, sort(claims));
        return new ClaimAnswer(claimed, originals).complete(claims, this::findOriginals);
    }

    private static List<Claim> sort(List<Claim> claims) {
        return (claims.size() > 1) ? claims.stream().sorted(BY_ID).toList() : claims;
    }

    @Override
    public BooleanSupplier watchTransaction() {
        return this.transaction.watch();
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return find(ids, "");
    }

    /**
     * A message is a duplicate of a row, not of none: a table that does not take rows, and does not say so, would have all
     * messages dropped.
     */
    @Override
    public Map<MessageId, ProcessedMessage> findOriginals(Collection<MessageId> ids) {
        Map<MessageId, ProcessedMessage> originals = find(ids, this.claim.currentRead());
        for (MessageId id : ids) {
            if (!originals.containsKey(id)) {
                throw refusedByNone(id);
            }
        }
        return originals;
    }

    private StoreFailedException refusedByNone(MessageId id) {
        return new StoreFailedException(
                ("The claim of %s was refused, but the table %s has no such row: it was forgotten in this moment, or the table"
                                + " does not take it. The message comes again. If that does not end, see what has been"
                                + " added to the table: a trigger, partitions without one for this consumer, another unique"
                                + " index, a check.")
                        .formatted(id, this.database.processedTable()),
                null);
    }

    private Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids, String ending) {
        return this.database.inTransaction(template -> {
            Map<MessageId, ProcessedMessage> found = new HashMap<>();
            List<MessageId> all = List.copyOf(ids);
            for (int from = 0; from < all.size(); from += IDS_PER_QUERY) {
                find(all.subList(from, Math.min(from + IDS_PER_QUERY, all.size())), ending, found, template);
            }
            return found;
        });
    }

    private void find(
            List<MessageId> ids, String ending, Map<MessageId, ProcessedMessage> found, JdbcTemplate template) {
        String sql = this.find.formatted("?" + ", ?".repeat(ids.size() - 1)) + ending;
        String consumer = ids.get(0).consumer();
        Stream<String> values = ids.stream().map(MessageId::value);
        template.query(
                sql,
                (ResultSet row) -> {
                    ProcessedMessage message = read(row, consumer);
                    found.put(message.id(), message);
                },
                Stream.concat(Stream.of(consumer), values).toArray());
    }

    private static ProcessedMessage read(ResultSet row, String consumer) throws SQLException {
        MessageId id = new MessageId(consumer, row.getString(1));
        RecordCoordinates coordinates = new RecordCoordinates(row.getString(2), row.getInt(3), row.getLong(4));
        Instant processedAt = EpochSeconds.toInstant(row.getBigDecimal(5));
        Instant now = EpochSeconds.toInstant(row.getBigDecimal(6));
        long digest = row.getLong(7);
        return new ProcessedMessage(
                id, coordinates, processedAt, Duration.between(processedAt, now), row.wasNull() ? null : digest);
    }

    @Override
    public boolean hasProcessed(String consumer) {
        return this.database.inTransaction(
                template -> template.queryForObject(this.any, String.class, consumer) != null);
    }

    @Override
    public List<RecordCoordinates> firstRecords(String consumer) {
        return this.database.inTransaction(() -> this.database
                .jdbc(FIRST_SECONDS)
                .query(
                        FIRST.formatted(this.database.processedTable()),
                        (row, number) -> new RecordCoordinates(row.getString(1), row.getInt(2), row.getLong(3)),
                        consumer,
                        consumer));
    }

    @Override
    public boolean forget(MessageId id) {
        return this.database.inTransaction(template -> {
            boolean known = template.update(this.delete, id.consumer(), id.value()) > 0;
            if (known) {
                template.update(this.markForgotten, id.consumer(), id.value());
                template.update(this.deleteResult, id.consumer(), id.value());
            }
            return known;
        });
    }

    @Override
    public boolean takesWrites() {
        try {
            this.probe.tryClaims();
            return true;
        } catch (RuntimeException ex) {
            logger.debug("The store does not take writes", ex);
            return false;
        }
    }

    @Override
    public StoreStatistics statistics(Collection<String> consumers) {
        return this.statistics.read(consumers);
    }
}
