package dev.idempotency.internal.store;

import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PositionClaim;
import dev.idempotency.internal.database.PositionStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcTemplate;

/** The table of positions: a row for each partition of a consumer, which is moved in the listener's transaction. */
public final class JdbcPositionStore {

    private static final String THIS = "consumer_id = ? and record_topic = ? and record_partition = ?";

    private static final String COLUMNS = "record_topic, record_partition, topic_id, next_offset";

    private static final String ALL =
            "select " + COLUMNS + ", %s from %s where consumer_id = ? order by record_topic, record_partition";

    private static final String ONE = "select " + COLUMNS + ", %s from %s where " + THIS;

    private static final String PASSED =
            "select next_offset from %s where " + THIS + " and topic_id = ? and next_offset >= ?";

    private static final String RESET = """
            update %s
            set topic_id = ?, previous_offset = ?, next_offset = ?, processed_at = %s
            where\s""" + THIS;

    private static final String DELETE = "delete from %s where " + THIS;

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final JdbcTemplate jdbc;
    private final PositionStatement statement;
    private final String all;
    private final String one;
    private final String passed;
    private final String reset;
    private final String delete;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcPositionStore(IdempotencyDatabase database, Duration claimTimeout) {
        Dialect dialect = database.dialect();
        String processedAt = dialect.secondsOf("processed_at");
        String table = database.positionTable();
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        this.jdbc = this.transaction.lookUps();
        this.statement = dialect.positionsIn(table);
        this.all = ALL.formatted(processedAt, table);
        this.one = ONE.formatted(processedAt, table);
        this.passed = PASSED.formatted(table);
        this.reset = RESET.formatted(table, dialect.now());
        this.delete = DELETE.formatted(table);
    }

    /** Moves positions in the current transaction; see {@link PositionStatement#execute}. */
    public Map<PositionClaim, Long> move(List<PositionClaim> claims) {
        return this.transaction.execute(
                (connection, limit) -> this.statement.execute(connection, claims, limit),
                () -> "the positions of consumer '%s' for %s"
                        .formatted(claims.get(0).consumer(), claims));
    }

    /** Returns the position of a claim's partition, without a lock, if it has come that far in the same topic. */
    public @Nullable Long findPassed(PositionClaim claim) {
        if (!this.database.dialect().mayReadBeforeClaim()) {
            return null;
        }
        return this.jdbc.query(
                this.passed,
                row -> row.next() ? row.getLong(1) : null,
                claim.consumer(),
                claim.topic(),
                claim.partition(),
                claim.topicId(),
                claim.to());
    }

    /** Where a claim's partition stands, in the current transaction, for which it is locked. */
    public @Nullable PartitionPosition lock(PositionClaim claim) {
        return DataAccessUtils.singleResult(this.jdbc.query(
                this.one + " for update",
                JdbcPositionStore::position,
                claim.consumer(),
                claim.topic(),
                claim.partition()));
    }

    /** Moves a position that is locked to the end of a claim, wherever it stood. */
    public void reset(PositionClaim claim) {
        this.jdbc.update(
                this.reset,
                claim.topicId(),
                claim.from(),
                claim.to(),
                claim.consumer(),
                claim.topic(),
                claim.partition());
    }

    /** Up to where a consumer has processed its partitions. */
    public List<PartitionPosition> positionsOf(String consumer) {
        return this.database.inTransaction(template -> template.query(this.all, JdbcPositionStore::position, consumer));
    }

    /**
     * Forgets the position of a consumer in a partition, so that redelivered records are processed again.
     *
     * @return whether it was known
     */
    public boolean forget(String consumer, String topic, int partition) {
        return this.database.inTransaction(template -> template.update(this.delete, consumer, topic, partition) > 0);
    }

    private static PartitionPosition position(ResultSet row, int number) throws SQLException {
        Instant processedAt = EpochSeconds.toInstant(row.getBigDecimal(5));
        return new PartitionPosition(row.getString(1), row.getInt(2), row.getString(3), row.getLong(4), processedAt);
    }
}
