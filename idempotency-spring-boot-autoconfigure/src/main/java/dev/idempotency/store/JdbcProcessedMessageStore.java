package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.database.ClaimStatement;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.Seconds;
import dev.idempotency.database.ShortTransaction;
import dev.idempotency.database.StatementTrial;
import dev.idempotency.database.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The table of processed messages, on the connection of the current transaction. */
public final class JdbcProcessedMessageStore implements ProcessedMessageStore, AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(JdbcProcessedMessageStore.class);

    private static final Comparator<Claim> BY_ID =
            Comparator.comparing(claim -> claim.id().value());

    private static final int IDS_PER_QUERY = 500;

    private static final int CLOCK_TOLERANCE_MILLIS = 100;

    /** Nobody who looks something up is to wait for longer, be it for a table that somebody has locked. */
    private static final int LOOK_UP_SECONDS = 5;

    private static final String FIND = """
            select message_id, record_topic, record_partition, record_offset, %s, %s
            from %s
            where consumer_id = ? and message_id in (%%s)
            """;

    /** One step in the primary key. */
    private static final String ANY = "select min(message_id) from %s where consumer_id = ?";

    private static final String FORGET = "delete from %s where consumer_id = ? and message_id = ?";

    private final DataSource dataSource;
    private final Dialect dialect;
    private final String table;
    private final ClaimStatement claim;
    private final String find;
    private final Duration claimTimeout;
    private final SQLExceptionTranslator exceptionTranslator;
    private final JdbcTemplate jdbc;
    private final JdbcTemplate lookUps;
    private final ShortTransaction transaction;
    private final ForgottenMark forgottenMark;
    private final TableStatistics statistics;
    private final StatementTrial trial;

    public JdbcProcessedMessageStore(DataSource dataSource, Dialect dialect, Tables tables, Duration claimTimeout) {
        this.dataSource = unwrap(dataSource);
        this.dialect = dialect;
        this.table = tables.processed(dialect);
        this.claim = dialect.claimIn(this.table);
        this.find = FIND.formatted(dialect.secondsOf("processed_at"), dialect.secondsOfNow(), this.table);
        this.claimTimeout = claimTimeout;
        this.jdbc = new JdbcTemplate(this.dataSource);
        this.transaction = new ShortTransaction(this.dataSource);
        this.forgottenMark = new ForgottenMark(dialect, tables);
        this.exceptionTranslator = this.jdbc.getExceptionTranslator();
        this.lookUps = new JdbcTemplate(this.dataSource);
        this.lookUps.setQueryTimeout(LOOK_UP_SECONDS);
        this.statistics = new TableStatistics(this.lookUps, dialect, tables);
        this.trial = new StatementTrial(this.dataSource, dialect, tables);
    }

    /** Transaction managers do the same, so that both agree on the key under which a transaction's connection is bound. */
    private static DataSource unwrap(DataSource dataSource) {
        if (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
            return proxy.getTargetDataSource();
        }
        return dataSource;
    }

    /** The data source whose transactions a claim can be part of. */
    public DataSource dataSource() {
        return this.dataSource;
    }

    @Override
    public Set<MessageId> claim(List<Claim> claims) {
        List<Claim> sorted = claims;
        if (claims.size() > 1) {
            sorted = new ArrayList<>(claims);
            sorted.sort(BY_ID);
        }
        ConnectionHolder holder = transactionHolder();
        Connection connection = holder.getConnection();
        try {
            if (connection.getAutoCommit()) {
                throw notInTransaction("its connection commits by itself");
            }
            return execute(connection, sorted, holder);
        } catch (SQLException ex) {
            throw translate(ex, "claim a message");
        }
    }

    @Override
    public boolean holds(MessageId claimed) {
        try {
            Boolean intact =
                    this.dialect.isTransactionIntact(transactionHolder().getConnection());
            return (intact != null) ? intact : !find(List.of(claimed)).isEmpty();
        } catch (SQLException ex) {
            throw translate(ex, "look whether a message is still claimed");
        }
    }

    @Override
    public BooleanSupplier watchTransaction(String consumer) {
        return (isAborted() != null) ? () -> Boolean.FALSE.equals(isAborted()) : new WitnessRow(this, consumer)::remove;
    }

    private @Nullable Boolean isAborted() {
        try {
            return this.dialect.isTransactionAborted(transactionHolder().getConnection());
        } catch (SQLException ex) {
            throw translate(ex, "look whether a transaction can still be committed");
        }
    }

    private ConnectionHolder transactionHolder() {
        if (TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.getResource(this.dataSource) instanceof ConnectionHolder holder) {
            return holder;
        }
        throw notInTransaction("no transaction of the store's DataSource is active");
    }

    private static UnprotectedListenerException notInTransaction(String why) {
        return new UnprotectedListenerException("The claim would not be part of the listener's transaction: " + why
                + ". Name a transaction manager that manages the store's DataSource in"
                + " @IdempotentListener(transactionManager = …).");
    }

    /** Whole seconds, as JDBC knows no less; and no longer than what is left of the transaction's own time. */
    private int timeoutSeconds(ConnectionHolder holder) {
        long seconds = claimSeconds();
        if (holder.hasTimeout()) {
            seconds = Math.min(seconds, Math.max(1, holder.getTimeToLiveInSeconds()));
        }
        return (int) Math.min(seconds, Integer.MAX_VALUE);
    }

    private long claimSeconds() {
        return Math.max(1, this.claimTimeout.plusMillis(999).toSeconds());
    }

    private Set<MessageId> execute(Connection connection, List<Claim> claims, ConnectionHolder holder)
            throws SQLException {
        int limit = timeoutSeconds(holder);
        long start = System.nanoTime();
        try {
            return this.claim.execute(connection, claims, limit);
        } catch (SQLException ex) {
            if (this.dialect.isTimeout(ex)) {
                throw timeout(ex, claims, limit, Duration.ofNanos(System.nanoTime() - start));
            }
            throw ex;
        }
    }

    private ClaimTimeoutException timeout(SQLException ex, List<Claim> claims, int limit, Duration waited) {
        Claim first = claims.get(0);
        String more = (claims.size() > 1) ? " and " + (claims.size() - 1) + " more" : "";
        return new ClaimTimeoutException(
                ("The claim of message %s (%s)%s waited %d ms for another transaction that holds it, or its table. Nothing"
                                + " was written; the message can be retried. %s")
                        .formatted(first.id(), first.coordinates(), more, waited.toMillis(), whoseLimit(limit, waited)),
                ex);
    }

    private String whoseLimit(int limit, Duration waited) {
        if (waited.plusMillis(CLOCK_TOLERANCE_MILLIS).toSeconds() < limit) {
            return "It was ended before idempotency.claim.timeout (%s), by a limit of the database's own or on request: see to its"
                            .formatted(this.claimTimeout)
                    + " lock and statement timeouts if listeners take that long.";
        }
        return (limit < claimSeconds())
                ? "Its transaction has no more time than that: raise @Transactional(timeout = …) if listeners take that long."
                : "Raise idempotency.claim.timeout (%s) if listeners take that long.".formatted(this.claimTimeout);
    }

    private DataAccessException translate(SQLException ex, String task) {
        DataAccessException translated = this.exceptionTranslator.translate(task, null, ex);
        return (translated != null) ? translated : new UncategorizedSQLException(task, null, ex);
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return inTransaction(template -> {
            Map<MessageId, ProcessedMessage> found = new HashMap<>();
            List<MessageId> all = List.copyOf(ids);
            for (int from = 0; from < all.size(); from += IDS_PER_QUERY) {
                find(all.subList(from, Math.min(from + IDS_PER_QUERY, all.size())), found, template);
            }
            return found;
        });
    }

    private void find(List<MessageId> ids, Map<MessageId, ProcessedMessage> found, JdbcTemplate template) {
        String sql = this.find.formatted("?" + ", ?".repeat(ids.size() - 1));
        String consumer = ids.get(0).consumer();
        template.query(
                sql,
                (PreparedStatement statement) -> {
                    statement.setString(1, consumer);
                    for (int i = 0; i < ids.size(); i++) {
                        statement.setString(i + 2, ids.get(i).value());
                    }
                },
                (ResultSet row) -> {
                    MessageId id = new MessageId(consumer, row.getString(1));
                    RecordCoordinates coordinates =
                            new RecordCoordinates(row.getString(2), row.getInt(3), row.getLong(4));
                    Instant processedAt = Seconds.toInstant(row.getBigDecimal(5));
                    Instant now = Seconds.toInstant(row.getBigDecimal(6));
                    found.put(
                            id, new ProcessedMessage(id, coordinates, processedAt, Duration.between(processedAt, now)));
                });
    }

    @Override
    public boolean hasProcessed(String consumer) {
        return inTransaction(
                template -> template.queryForObject(ANY.formatted(this.table), String.class, consumer) != null);
    }

    @Override
    public boolean forget(MessageId id) {
        return inTransaction(template -> {
            boolean known = delete(id, template);
            if (known) {
                this.forgottenMark.set(id, template);
            }
            return known;
        });
    }

    /** Takes a claim back that was made in the current transaction, so that nobody has seen it. */
    boolean unclaim(MessageId id) {
        return delete(id, this.jdbc);
    }

    private boolean delete(MessageId id, JdbcTemplate template) {
        return template.update(FORGET.formatted(this.table), id.consumer(), id.value()) > 0;
    }

    /** A listener's transaction has its own time, any other has seconds. */
    private <T> T inTransaction(Function<JdbcTemplate, T> work) {
        JdbcTemplate template = this.transaction.isWithinOne() ? this.jdbc : this.lookUps;
        return this.transaction.call(() -> work.apply(template));
    }

    @Override
    public boolean takesWrites() {
        try {
            this.trial.claims();
            return true;
        } catch (RuntimeException ex) {
            logger.debug("The store does not take writes", ex);
            return false;
        }
    }

    @Override
    public StoreStatistics statistics(Collection<String> consumers) {
        return this.transaction.call(() -> this.statistics.read(consumers));
    }

    @Override
    public void close() {
        this.claim.close();
    }
}
