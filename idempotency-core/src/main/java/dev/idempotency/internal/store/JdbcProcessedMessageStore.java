package dev.idempotency.internal.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.internal.database.ClaimStatement;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.database.WriteProbe;
import dev.idempotency.store.ClaimAnswer;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreStatistics;
import dev.idempotency.store.StoreStatistics.Slot;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/** The table of processed messages, on the connection of the current transaction. */
public final class JdbcProcessedMessageStore implements ProcessedMessageStore {

    private static final Logger logger = LoggerFactory.getLogger(JdbcProcessedMessageStore.class);

    private static final Comparator<Claim> BY_ID =
            Comparator.comparing(claim -> claim.id().value());

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

    /** The first row is about the oldest, as rows are only added. */
    private static final String SLOT = """
            select (%s), (
                select cast(extract(epoch from current_timestamp - processed_at) * 1000 as bigint) from %s limit 1)
            """;

    private static final String DELETE_OF_MESSAGE = "delete from %s where consumer_id = ? and message_id = ?";

    /** So that it may be replayed, if it is in the inbox: what has merely expired stays marked as processed. */
    private static final String MARK_FORGOTTEN = """
            update %s
            set status = 'forgotten', updated_at = %s
            where consumer_id = ? and message_id = ? and status = 'processed'
            """;

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final ClaimStatement claim;
    private final ClaimTable<ProcessedMessage> table;
    private final String markForgotten;
    private final String deleteResult;
    private final String deleteSteps;
    private final WriteProbe probe;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcProcessedMessageStore(IdempotencyDatabase database, Duration claimTimeout) {
        Dialect dialect = database.dialect();
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        Ring ring = new Ring(database);
        this.table = new ClaimTable<>(
                database,
                database.processedTable(),
                ring::tables,
                database.activityTable(),
                "record_topic, record_partition, record_offset, %s, %s, payload_digest"
                        .formatted(dialect.secondsOf("processed_at"), dialect.secondsOf(dialect.now())),
                JdbcProcessedMessageStore::read,
                database.processedEstimate());
        this.claim = ring.claims(dialect::claimIn, ids -> this.table.find(ids, "", this.transaction.lookUps()));
        this.markForgotten = MARK_FORGOTTEN.formatted(database.inboxTable(), dialect.now());
        this.deleteResult = DELETE_OF_MESSAGE.formatted(database.resultTable());
        this.deleteSteps = DELETE_OF_MESSAGE.formatted(database.stepTable());
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
        return this.transaction.claim(
                this.claim, (claims.size() > 1) ? claims.stream().sorted(BY_ID).toList() : claims);
    }

    /** Where the database allows that, looks first, which neither locks nor writes. */
    @Override
    public ClaimAnswer claimOrFind(List<Claim> claims) {
        if (!this.database.dialect().mayReadBeforeClaim()) {
            return ProcessedMessageStore.super.claimOrFind(claims);
        }
        Map<MessageId, ProcessedMessage> originals =
                this.table.find(claims.stream().map(Claim::id).toList(), "", this.transaction.lookUps());
        List<Claim> free = claims.stream()
                .filter(claim -> !originals.containsKey(claim.id()))
                .toList();
        Set<MessageId> claimed = free.isEmpty() ? Set.of() : claim(free);
        return new ClaimAnswer(claimed, originals).complete(claims, this::findOriginals);
    }

    @Override
    public BooleanSupplier watchTransaction() {
        return this.transaction.watch();
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return this.table.find(ids);
    }

    /**
     * A message is a duplicate of a row, not of none: a table that does not take rows, and does not say so, would have all
     * messages dropped.
     */
    @Override
    public Map<MessageId, ProcessedMessage> findOriginals(Collection<MessageId> ids) {
        Map<MessageId, ProcessedMessage> originals = this.table.findCurrent(ids);
        for (MessageId id : ids) {
            if (!originals.containsKey(id)) {
                throw new StoreFailedException(
                        ("Insert of %s reported a duplicate, but %s has no such row: it was deleted concurrently, or a"
                                        + " trigger, partition or extra index rejects inserts. The message is redelivered.")
                                .formatted(id, this.database.processedTable()),
                        null);
            }
        }
        return originals;
    }

    private static ProcessedMessage read(MessageId id, ResultSet row, int first) throws SQLException {
        RecordCoordinates coordinates =
                new RecordCoordinates(row.getString(first), row.getInt(first + 1), row.getLong(first + 2));
        Instant processedAt = EpochSeconds.toInstant(row.getBigDecimal(first + 3));
        Instant now = EpochSeconds.toInstant(row.getBigDecimal(first + 4));
        long digest = row.getLong(first + 5);
        return new ProcessedMessage(
                id, coordinates, processedAt, Duration.between(processedAt, now), row.wasNull() ? null : digest);
    }

    @Override
    public boolean hasProcessed(String consumer) {
        return this.table.hasAny(consumer);
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
            boolean known = this.table.delete(id, template);
            if (known) {
                template.update(this.markForgotten, id.consumer(), id.value());
                template.update(this.deleteResult, id.consumer(), id.value());
                template.update(this.deleteSteps, id.consumer(), id.value());
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
        StoreStatistics statistics = this.table.statistics(consumers);
        if (!this.database.isRing()) {
            return statistics;
        }
        List<Slot> slots = this.database.inTransaction(jdbc -> IntStream.range(0, Ring.SLOTS)
                .mapToObj(slot -> slot(slot, jdbc))
                .toList());
        long rows = slots.stream().mapToLong(Slot::rows).sum();
        return new StoreStatistics(rows, Map.of(), slots).plus(statistics);
    }

    private Slot slot(int slot, JdbcTemplate jdbc) {
        String estimate =
                this.database.dialect().rowEstimateOf(IdempotencyDatabase.slotName(slot), this.database.schema());
        return jdbc.queryForObject(SLOT.formatted(estimate, this.database.slotTable(slot)), (row, number) -> {
            Long millis = row.getObject(2, Long.class);
            return new Slot(slot, row.getLong(1), (millis != null) ? Duration.ofMillis(millis) : null);
        });
    }
}
