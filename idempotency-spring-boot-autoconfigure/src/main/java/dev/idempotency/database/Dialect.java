package dev.idempotency.database;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * How one database claims messages.
 *
 * <p>Define a bean of this type to use a database that is not known here.
 */
public interface Dialect {

    /** Folder of the script under {@code dev/idempotency/schema}, such as {@code postgresql}. */
    String vendor();

    /** The character that quotes an identifier. */
    String identifierQuote();

    /** The statement that claims messages in the table with this name, which is safe to be put into SQL. */
    ClaimStatement claimIn(String table);

    /**
     * The statement that moves positions in the table with this name.
     *
     * @return by default, plain statements that all databases know
     */
    default PositionStatement positionsIn(String table) {
        return new SingleRowPositions(table, now());
    }

    /**
     * The statement that replaces the versions of entities in the table with this name.
     *
     * @return {@code null} if there is none: then listeners cannot have {@link dev.idempotency.Strategy#VERSION}
     */
    default @Nullable VersionStatement versionsIn(String table) {
        return null;
    }

    /**
     * Whether rows may be read before they are claimed, as is faster where duplicates are expected. Not where the first read
     * of a transaction decides what it sees from then on: the listener would not see what was committed while the claim
     * waited.
     */
    default boolean mayReadBeforeClaim() {
        return false;
    }

    /**
     * The end of a query that sees the rows for which claims were refused, where the database would otherwise show the table
     * as it was when the transaction first read something.
     */
    default String currentRead() {
        return "";
    }

    /**
     * Whether the connection's transaction is still the one in which claims were made, as far as the driver knows:
     * databases end a transaction by themselves after some errors, whether or not somebody catches them.
     *
     * @return {@code null} if the driver does not know, so that the database is asked
     */
    default @Nullable Boolean isTransactionIntact(Connection connection) throws SQLException {
        return null;
    }

    /**
     * Whether the database has given up the connection's transaction after an error, as far as the driver knows; unlike
     * {@link #isTransactionIntact} it is asked where nothing may have been done in that transaction at all.
     *
     * @return {@code null} if the driver does not know
     */
    default @Nullable Boolean isTransactionAborted(Connection connection) throws SQLException {
        return null;
    }

    /**
     * The query for the id of the current transaction, by which it is seen whether that is still the one of the claims.
     *
     * @return {@code null} if there is none: then a savepoint is set after the claims and released before the commit
     */
    default @Nullable String transactionIdQuery() {
        return null;
    }

    /** A table as it is named in SQL, in the schema with a name or, for {@code null}, in the one connections begin in. */
    default String qualify(String table, @Nullable String schema) {
        return (schema != null) ? identifierQuote() + schema + identifierQuote() + "." + table : table;
    }

    /**
     * The query for an estimate of the rows in a table that reads none of them.
     *
     * @param table the table's name alone
     * @param schema its schema's name, or {@code null} for the one that connections begin in
     * @return {@code null} if there is no such query
     */
    default @Nullable String rowEstimateOf(String table, @Nullable String schema) {
        return null;
    }

    /**
     * The statement that puts a message that has been processed into the inbox table, or completes it there, in one round
     * trip.
     *
     * <p>Its parameters are consumer id, message id, type, topic, partition, offset, key, headers, payload, payload size
     * and why the payload is omitted. Only the first two count for a message that is there already.
     *
     * @throws UnsupportedOperationException if there is none: then listeners have no inbox
     */
    default String inboxCompletionIn(String table) {
        throw new UnsupportedOperationException(getClass().getName()
                + " has no statement for the inbox. Implement inboxCompletionIn, or use no inbox.");
    }

    /**
     * The statement that puts a result into the table of results, in place of one that an earlier claim of the same id may
     * have left there, in one round trip. The row has the time of the claim, by which it is known as the claim's own. Its
     * parameters are type, result, consumer id and message id.
     *
     * @param table the table of results
     * @param processed the table of processed messages, where the claim is
     * @return {@code null} if there is no such statement: then it is done with plain inserts and updates
     */
    default @Nullable String resultReplacementIn(String table, String processed) {
        return null;
    }

    /** The expression for the time of the current transaction or statement, as exact as the tables keep it. */
    default String now() {
        return "current_timestamp";
    }

    /**
     * The expression for a time of the tables as seconds since the epoch, with their fractions: so it is read as the
     * instant that it is, whatever the time zones of session and JVM.
     */
    default String secondsOf(String time) {
        return "extract(epoch from " + time + ")";
    }

    /**
     * The expression for a time that is given by its one parameter: seconds since the epoch, with their fractions. Fit to
     * be compared with the times of the tables through their index.
     */
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
