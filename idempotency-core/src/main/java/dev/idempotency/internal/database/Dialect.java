package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Set;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/** The SQL of one database. Names of tables that it is given are safe to be put into SQL. Internal: it will change. */
public interface Dialect {

    /** Where business keys cannot be locked themselves, or are too many, so many groups of them are. */
    int STRIPES = 1024;

    /** Folder of the script under {@code dev/idempotency/schema}, such as {@code postgresql}. */
    String vendor();

    /** The character that quotes an identifier. */
    default String identifierQuote() {
        return "\"";
    }

    /** The statement that claims messages in a table. */
    ClaimStatement claimIn(String table);

    /**
     * The statement that moves positions in a table.
     *
     * @return by default, plain statements, for databases on which a failed insert leaves the transaction as it was
     */
    default PositionStatement positionsIn(String table) {
        return new SingleRowStatements.Positions(table, now(), currentRead());
    }

    /** The statement that replaces the versions of entities in a table. */
    VersionStatement versionsIn(String table);

    /**
     * The query that locks the hashes of business keys until the end of the transaction, in an order that is the same for
     * everyone; by default, by their stripes' rows in a table. It returns a row for each lock.
     */
    default String lock(String table, SortedSet<Long> hashes, SortedSet<Integer> stripes) {
        return "select stripe from %s where stripe in (%s) order by stripe for update"
                .formatted(table, StringUtils.collectionToCommaDelimitedString(stripes));
    }

    /**
     * Whether rows may be read before they are claimed, which is faster where duplicates are expected. Not where the first
     * read of a transaction decides what it sees from then on.
     */
    default boolean mayReadBeforeClaim() {
        return false;
    }

    /** The end of a query that sees the latest rows, where a transaction otherwise sees the rows of its first read. */
    default String currentRead() {
        return "";
    }

    /**
     * Watches the connection's transaction: databases end it after some errors, whether or not the application catches
     * them.
     *
     * @return by default, sees whether a savepoint that is set now is still there
     */
    default TransactionCheck watch(Connection connection) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        return same -> {
            try {
                same.releaseSavepoint(savepoint);
                return true;
            } catch (SQLException ex) {
                // No such savepoint, in the standard and on MariaDB and MySQL; or the transaction was aborted.
                String state = String.valueOf(ex.getSQLState());
                if (Set.of("3B", "42", "25").stream().anyMatch(state::startsWith)) {
                    return false;
                }
                throw ex;
            }
        };
    }

    /** Asked once, before the commit: whether the connection's transaction is still the one that was watched. */
    @FunctionalInterface
    interface TransactionCheck {

        boolean isIntact(Connection connection) throws SQLException;
    }

    /** A table as it is named in SQL, in a schema or, for {@code null}, in the one that connections begin in. */
    default String qualify(String table, @Nullable String schema) {
        return (schema != null) ? identifierQuote() + schema + identifierQuote() + "." + table : table;
    }

    /**
     * The query for an estimate of the rows in a table that reads none of them.
     *
     * @param table the table's name alone
     * @param schema its schema's name, or {@code null} for the one that connections begin in
     */
    String rowEstimateOf(String table, @Nullable String schema);

    /**
     * The statement that puts a processed message into the inbox table, or completes it there.
     *
     * <p>Its parameters are consumer id, message id, type, topic, partition, offset, key, headers, payload, payload size
     * and why the payload is omitted. Only the first two count for a message that is there already.
     */
    String inboxCompletionIn(String table);

    /**
     * The statement that puts a result into the table of results, in place of one that an earlier claim of the same id may
     * have left there. The row has the time of the claim. Its parameters are type, result, consumer id and message id.
     *
     * @param table the table of results
     * @param processed the table of processed messages, where the claim is
     */
    String resultReplacementIn(String table, String processed);

    /** The expression for the time of the current transaction or statement, as exact as the tables keep it. */
    default String now() {
        return "current_timestamp";
    }

    /** The expression for a time of the tables as seconds since the epoch with fractions, which no time zone changes. */
    default String secondsOf(String time) {
        return "extract(epoch from " + time + ")";
    }

    /** The expression for a time, given as seconds since the epoch by its parameter, that an index can be searched with. */
    default String timeOfSeconds() {
        return "timestamp with time zone '1970-01-01 00:00:00+00:00' + cast(? as decimal(20, 6)) * interval '1' second";
    }

    /** The end of a query that leaves so many rows out and returns so many of the next. */
    default String rows(long offset, long limit) {
        return "limit " + limit + " offset " + offset;
    }

    /** Whether the exception says that a claim waited for too long. */
    boolean isTimeout(SQLException ex);
}
