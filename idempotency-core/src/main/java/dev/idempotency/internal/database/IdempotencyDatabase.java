package dev.idempotency.internal.database;

import dev.idempotency.IdempotencyConfigurationException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The database with the library's tables: its connections, its dialect, and the schema that the tables are in. */
public final class IdempotencyDatabase {

    static final String PROCESSED = "idempotency_processed";
    static final String INBOX = "idempotency_inbox";
    static final String RESULT = "idempotency_result";
    static final String STEP = "idempotency_step";
    static final String POSITION = "idempotency_position";
    static final String VERSION = "idempotency_version";
    static final String LOCK = "idempotency_lock";
    static final String ACTIVITY = "idempotency_activity";

    /** Query timeout for lookups, including lock waits. */
    private static final int LOOK_UP_SECONDS = 5;

    private static final Pattern SAFE_IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private final DataSource dataSource;
    private final Dialect dialect;
    private final @Nullable String schema;
    private final RetentionMode retentionMode;
    private final DataSourceTransactions transactions;
    private final JdbcTemplate jdbc;
    private final JdbcTemplate lookUps;

    /** {@code schema} is the name of the tables' schema, or {@code null} for the one that connections begin in. */
    public IdempotencyDatabase(DataSource dataSource, Dialect dialect, @Nullable String schema) {
        this(dataSource, dialect, schema, RetentionMode.DELETE);
    }

    /** {@code retentionMode} decides which tables processed messages are in. */
    public IdempotencyDatabase(
            DataSource dataSource, Dialect dialect, @Nullable String schema, RetentionMode retentionMode) {
        if (schema != null && !SAFE_IDENTIFIER.matcher(schema).matches()) {
            String remedy =
                    "Name a schema with letters, digits and underscores, at most 63, not beginning with a digit.";
            throw new IdempotencyConfigurationException(
                    "The idempotency.schema.name '%s' is no plain identifier.".formatted(schema), remedy, null);
        }
        this.dataSource = DataSourceTransactions.unwrap(dataSource);
        this.dialect = dialect;
        this.schema = schema;
        this.retentionMode = retentionMode;
        this.transactions = new DataSourceTransactions(this.dataSource);
        this.jdbc = jdbc();
        this.lookUps = jdbc(LOOK_UP_SECONDS);
    }

    public DataSource dataSource() {
        return this.dataSource;
    }

    public Dialect dialect() {
        return this.dialect;
    }

    @Nullable
    public String schema() {
        return this.schema;
    }

    /** The user of the application's connections, as the driver names it. */
    String user() {
        ConnectionCallback<String> name = connection -> connection.getMetaData().getUserName();
        return Objects.requireNonNull(new JdbcTemplate(this.dataSource).execute(name));
    }

    /** The table of processed messages; with a ring, queries of it include the slots. */
    public String processedTable() {
        return table(PROCESSED);
    }

    /** The table of processed messages without the slots of a ring. */
    public String processedTableAlone() {
        return isRing() ? "only " + processedTable() : processedTable();
    }

    /** The table that tells when consumers were active; with a ring, that is not the one of processed messages. */
    public String activityTable() {
        return isRing() ? table(ACTIVITY) : processedTable();
    }

    public String slotTable(int slot) {
        return table(slotName(slot));
    }

    public static String slotName(int slot) {
        return PROCESSED + "_" + slot;
    }

    /** Whether processed messages are in a ring of tables. */
    public boolean isRing() {
        return this.retentionMode == RetentionMode.RING;
    }

    public String inboxTable() {
        return table(INBOX);
    }

    public String resultTable() {
        return table(RESULT);
    }

    public String stepTable() {
        return table(STEP);
    }

    public String positionTable() {
        return table(POSITION);
    }

    public String versionTable() {
        return table(VERSION);
    }

    public String lockTable() {
        return table(LOCK);
    }

    /** A table as it is named in SQL. */
    String table(String name) {
        return this.dialect.qualify(name, this.schema);
    }

    /** The query for an estimate of the processed messages in the table itself. */
    public String processedEstimate() {
        return this.dialect.rowEstimateOf(PROCESSED, this.schema);
    }

    /** The query for an estimate of the entities whose versions are known. */
    public String versionEstimate() {
        return this.dialect.rowEstimateOf(VERSION, this.schema);
    }

    /**
     * The consumers that have messages in a table, whether or not they are in this application.
     *
     * <p>Hops from one to the next through the index: as many look-ups as there are consumers, not rows.
     */
    public List<String> consumersIn(String table, JdbcTemplate jdbc) {
        String next = "select consumer_id from %s where consumer_id > ? order by consumer_id %s"
                .formatted(table, this.dialect.rows(0, 1));
        List<String> consumers = new ArrayList<>();
        List<String> found = jdbc.queryForList(next, String.class, "");
        while (!found.isEmpty()) {
            consumers.addAll(found);
            found = jdbc.queryForList(next, String.class, found.get(0));
        }
        return consumers;
    }

    /** A template whose statements may take as long as the transaction that they are in. */
    public JdbcTemplate jdbc() {
        return new JdbcTemplate(this.dataSource);
    }

    /** A template whose statements may take so long. */
    public JdbcTemplate jdbc(int timeoutSeconds) {
        JdbcTemplate jdbc = jdbc();
        jdbc.setQueryTimeout(timeoutSeconds);
        return jdbc;
    }

    /** A template for look-ups, whose statements may take seconds. */
    public JdbcTemplate lookUps() {
        return this.lookUps;
    }

    /**
     * Does the work in the current transaction or, if there is none, in a new one.
     *
     * <p>Also what only reads is done in one: connections may not commit by themselves, and then a pool may take back, and
     * hand out, a connection on which the transaction of a look-up is still open.
     */
    public <T extends @Nullable Object> T inTransaction(Supplier<T> work) {
        // Callbacks after the end of a transaction still find it, but can register no further ones.
        return (isInTransaction() && TransactionSynchronizationManager.isSynchronizationActive())
                ? work.get()
                : this.transactions.separate().execute(status -> work.get());
    }

    /** The same with a template: the current transaction has its own time, any other has seconds. */
    public <T extends @Nullable Object> T inTransaction(Function<JdbcTemplate, T> work) {
        JdbcTemplate template = isInTransaction() ? this.jdbc : this.lookUps;
        return inTransaction(() -> work.apply(template));
    }

    /** Whether there is a transaction already, whose own timeout applies. */
    public boolean isInTransaction() {
        return this.transactions.isOpen();
    }

    /**
     * Template for new transactions on other connections, which see the latest committed rows. With a
     * higher isolation, MySQL and MariaDB would lock the gaps between rows, which claims want to insert into.
     */
    public TransactionTemplate newTransaction() {
        TransactionTemplate transaction = this.transactions.separate();
        transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        return transaction;
    }
}
