package dev.idempotency.internal.store;

import dev.idempotency.IdempotencyException;
import dev.idempotency.StoreFailedException;
import dev.idempotency.internal.database.Causes;
import java.sql.SQLException;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.transaction.TransactionTimedOutException;

/**
 * Decides whether the failure of one of the library's statements is the store's: anything but data that the database refuses,
 * a transaction in which the listener has caused an error before, or time that the listener has used up.
 */
public final class StoreExceptionTranslator {

    /** Data exceptions and violated constraints. */
    private static final Set<String> DATA_CLASSES = Set.of("22", "23");

    /** MySQL and MariaDB: a character that the column does not have, a violated check constraint. */
    private static final Set<Integer> DATA_CODES = Set.of(1366, 3819);

    /** The drivers of MariaDB and MySQL: the statement is larger than the database takes, and was not sent. */
    private static final Set<String> TOO_LARGE = Set.of(
            "org.mariadb.jdbc.export.MaxAllowedPacketException", "com.mysql.cj.jdbc.exceptions.PacketTooBigException");

    /** PostgreSQL: an earlier statement has failed, and the listener has caught the error. */
    private static final String TRANSACTION_ABORTED = "25P02";

    /** A deadlock, except on PostgreSQL. */
    private static final String SERIALIZATION_FAILURE = "40001";

    private static final String DEADLOCK = "40P01";

    private StoreExceptionTranslator() {}

    /** Does what the library has to do in a listener's transaction; {@code task} is such as "claim a message". */
    public static <T extends @Nullable Object> T attempt(Supplier<String> task, Supplier<T> work) {
        try {
            return work.get();
        } catch (RuntimeException ex) {
            throw translate(task.get(), ex);
        } catch (Error ex) {
            Causes.rethrowIfFatal(ex);
            throw failed(task.get(), ex.toString(), "Fix the store.", ex);
        }
    }

    /** Returns the exception to throw for the failure of a task. */
    public static RuntimeException translate(String task, RuntimeException failure) {
        if (failure instanceof IdempotencyException
                || failure instanceof TransactionTimedOutException
                || isOfMessage(failure)) {
            return failure;
        }
        SQLException sql = innermost(failure);
        String reason = (sql != null) ? String.valueOf(sql.getMessage()) : failure.toString();
        return failed(task, reason, remedyFor(failure), failure);
    }

    private static StoreFailedException failed(String task, String reason, String remedy, Throwable failure) {
        return new StoreFailedException(
                "Could not %s: %s. It is not the message's fault: it is redelivered until it succeeds. %s"
                        .formatted(task, reason, remedy),
                failure);
    }

    /** Whether the database rolled the transaction back for the sake of a concurrent one: it may succeed when repeated. */
    public static boolean isSerializationFailure(Throwable failure) {
        SQLException sql = innermost(failure);
        return sql != null && (SERIALIZATION_FAILURE.equals(sql.getSQLState()) || DEADLOCK.equals(sql.getSQLState()));
    }

    /** Says what to do about a failure of the store. */
    public static String remedyFor(Throwable failure) {
        SQLException sql = innermost(failure);
        if (sql == null || !isSerializationFailure(failure)) {
            return "See that the database answers, that the tables of idempotency-spring-boot are there, and that the user of"
                    + " the DataSource may read and write them.";
        }
        // PostgreSQL has no error codes.
        return (sql.getErrorCode() == 0 && !DEADLOCK.equals(sql.getSQLState()))
                ? "The transaction is REPEATABLE READ or SERIALIZABLE, and does not see what others claimed since it began: repeat"
                        + " all of it, or use READ COMMITTED."
                : "It was a deadlock with another transaction: repeat all of this one.";
    }

    private static boolean isOfMessage(RuntimeException failure) {
        SQLException sql = innermost(failure);
        if (sql == null) {
            return failure instanceof DataIntegrityViolationException;
        }
        for (Throwable next : Causes.of(sql)) {
            if (TOO_LARGE.contains(next.getClass().getName())) {
                return true;
            }
        }
        String state = String.valueOf(sql.getSQLState());
        return DATA_CODES.contains(sql.getErrorCode())
                || state.equals(TRANSACTION_ABORTED)
                || DATA_CLASSES.stream().anyMatch(state::startsWith);
    }

    /** Whether it failed, on PostgreSQL, because the error of an earlier statement was caught. */
    public static boolean isOfAbortedTransaction(Throwable failure) {
        SQLException sql = innermost(failure);
        return sql != null && TRANSACTION_ABORTED.equals(sql.getSQLState());
    }

    /**
     * The last one of its causes that the database gave, or {@code null} if there is none. The exception of a batch has
     * its values in its text; the one that it leads to has not. Of an aborted transaction it is not the earlier error, which
     * PostgreSQL's driver names as the cause.
     */
    public static @Nullable SQLException innermost(Throwable failure) {
        SQLException found = null;
        for (Throwable next : Causes.of(failure)) {
            if (next instanceof SQLException sql) {
                found = (sql.getNextException() != null) ? sql.getNextException() : sql;
                if (TRANSACTION_ABORTED.equals(found.getSQLState())) {
                    return found;
                }
            }
        }
        return found;
    }
}
