package dev.idempotency.store;

import dev.idempotency.database.Dialect;
import dev.idempotency.database.EpochSeconds;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.PositionClaim;
import dev.idempotency.database.PositionStatement;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
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
            where\s""" + THIS + """
             and topic_id = ? and next_offset = ?
            """;

    private static final String DELETE = "delete from %s where " + THIS;

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final PositionStatement statement;
    private final String table;
    private final String all;
    private final String one;
    private final String passed;
    private final String reset;
    private final String delete;
    private final String now;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcPositionStore(IdempotencyDatabase database, Duration claimTimeout) {
        Dialect dialect = database.dialect();
        String processedAt = dialect.secondsOf("processed_at");
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        this.table = database.positionTable();
        this.statement = dialect.positionsIn(this.table);
        this.all = ALL.formatted(processedAt, this.table);
        this.one = ONE.formatted(processedAt, this.table);
        this.passed = PASSED.formatted(this.table);
        this.reset = RESET.formatted(this.table, dialect.now());
        this.delete = DELETE.formatted(this.table);
        this.now = "select " + dialect.secondsOf(dialect.now());
    }

    /** Moves positions in the current transaction; see {@link PositionStatement#execute}. */
    Map<PositionClaim, Long> move(List<PositionClaim> claims) {
        return this.transaction.execute(
                (connection, limit) -> this.statement.execute(connection, claims, limit),
                () -> "the positions of consumer '%s' for %s"
                        .formatted(claims.get(0).consumer(), claims));
    }

    /** Returns the position of a claim's partition, without a lock, if it has come that far in the same topic. */
    @Nullable
    Long findPassed(PositionClaim claim) {
        if (!this.database.dialect().mayReadBeforeClaim()) {
            return null;
        }
        return this.transaction
                .lookUps()
                .query(
                        this.passed,
                        row -> row.next() ? row.getLong(1) : null,
                        claim.consumer(),
                        claim.topic(),
                        claim.partition(),
                        claim.topicId(),
                        claim.to());
    }

    /** Where a claim's partition stands, in the current transaction, for which it is locked. */
    @Nullable
    PartitionPosition lock(PositionClaim claim) {
        List<PartitionPosition> found = this.transaction
                .lookUps()
                .query(
                        this.one + " for update",
                        JdbcPositionStore::position,
                        claim.consumer(),
                        claim.topic(),
                        claim.partition());
        return found.isEmpty() ? null : found.get(0);
    }

    /** Moves a position to the end of a claim, wherever it stood, unless it has been moved since it was read. */
    boolean reset(PositionClaim claim, PartitionPosition read) {
        return this.database.inTransaction(template -> template.update(
                        this.reset,
                        claim.topicId(),
                        claim.from(),
                        claim.to(),
                        claim.consumer(),
                        claim.topic(),
                        claim.partition(),
                        read.topicId(),
                        read.nextOffset())
                == 1);
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

    /** The consumers that have positions, whether or not they are in this application. */
    public List<String> consumers() {
        return this.database.inTransaction(template -> this.database.consumersIn(this.table, template));
    }

    /**
     * Deletes positions of a consumer that has moved none of them for so long, or nothing if it has.
     *
     * @param limit how many at most
     * @return how many
     */
    public int purgeAbandoned(String consumer, Duration idle, int limit) {
        JdbcTemplate lookUps = this.database.lookUps();
        return this.database.newTransaction().execute(status -> {
            List<PartitionPosition> positions =
                    lookUps.query(this.all + " for update", JdbcPositionStore::position, consumer);
            BigDecimal now = Objects.requireNonNull(lookUps.queryForObject(this.now, BigDecimal.class));
            Instant before = EpochSeconds.toInstant(now).minus(idle);
            boolean abandoned = positions.stream()
                    .allMatch(position -> position.processedAt().isBefore(before));
            return positions.stream()
                    .limit(abandoned ? limit : 0)
                    .mapToInt(position -> lookUps.update(this.delete, consumer, position.topic(), position.partition()))
                    .sum();
        });
    }

    private static PartitionPosition position(ResultSet row, int number) throws SQLException {
        Instant processedAt = EpochSeconds.toInstant(row.getBigDecimal(5));
        return new PartitionPosition(row.getString(1), row.getInt(2), row.getString(3), row.getLong(4), processedAt);
    }
}
