package dev.idempotency.failure;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.LockTimeoutException;
import dev.idempotency.StoreFailedException;
import dev.idempotency.internal.database.Causes;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.TransactionUsageException;

/**
 * Recognises the failures of databases among the causes and the suppressed exceptions, by SQL states if there are any.
 * A failure of a statement of the library's own ({@link StoreFailedException}) is never the message's.
 */
public final class DatabaseFailureClassifier implements FailureClassifier {

    /** With these causes a transaction could not be created, though no database was asked. */
    private static final List<Class<? extends RuntimeException>> ERRORS_IN_PROGRAM = List.of(
            TransactionUsageException.class,
            NestedTransactionNotSupportedException.class,
            IllegalStateException.class,
            IllegalArgumentException.class,
            UnsupportedOperationException.class,
            ClassCastException.class,
            NullPointerException.class);

    private static final Set<String> OUTAGE_CLASSES = Set.of("08", "53", "58");

    /** Read-only (a replica after a failover), unknown outcome, and the server going down, down, or coming up. */
    private static final Set<String> OUTAGE_STATES =
            Set.of("25006", "40003", "57P01", "57P02", "57P03", "57P04", "57P05");

    /** Serialization failure, deadlock, lock not available. */
    private static final Set<String> CONTENTION_STATES = Set.of("40001", "40P01", "55P03");

    /** States that a database has for many things. */
    private static final Set<String> UNSPECIFIC_STATES = Set.of("HY000", "HY001", "HYT00", "42000");

    /**
     * MySQL and MariaDB, in this order: the disk or a table is full, memory or locks are used up (1021 to 1637); too many
     * connections, or a user's limit (1129 to 1226); read-only, by option, by mode or by engine (1290 to 1874); the
     * connection was killed, or closed for being idle. H2 (90028 to 90097): input and output, read-only.
     */
    private static final Set<Integer> OUTAGE_CODES = Set.of(
            1021, 1026, 1030, 1037, 1041, 1114, 1206, 1637, 1129, 1203, 1226, 1290, 1836, 1874, 1927, 4031, 90028,
            90031, 90097);

    /** MySQL: changed since read, lock wait timeout or aborted, nowait. H2: lock timeout, concurrent update. */
    private static final Set<Integer> CONTENTION_CODES = Set.of(1020, 1205, 1689, 3572, 50200, 90131);

    /**
     * A connection was refused: not established, rejected, server starting, too many of them (08001 to 53300); the server goes
     * down, or its disk is full or fails, the last two of H2.
     */
    private static final Set<String> STATES_OF_SERVER = Set.of(
            "08001", "08004", "57P03", "53300", "57P01", "57P02", "57P04", "53100", "58000", "58030", "90028", "90031");

    /** MySQL and MariaDB: a connection was refused; the server goes down, its disk or a table is full or fails. */
    private static final Set<Integer> CODES_OF_SERVER = Set.of(1040, 1129, 1203, 1226, 1021, 1026, 1030, 1053, 1114);

    @Override
    public FailureKind classify(Throwable failure) {
        FailureKind worst = Causes.withSuppressed(failure)
                .all(Throwable.class)
                .map(DatabaseFailureClassifier::kindOf)
                .max(Comparator.naturalOrder())
                .orElse(FailureKind.MESSAGE);
        return (worst == FailureKind.MESSAGE && (isOfStore(failure) || isClosedAtEnd(failure)))
                ? FailureKind.OUTAGE
                : worst;
    }

    public static boolean isOfStore(Throwable failure) {
        return Causes.withSuppressed(failure).contains(StoreFailedException.class);
    }

    /** Whether the pool had closed the connection: Spring drops the commit's exception if the rollback after it fails. */
    private static boolean isClosedAtEnd(Throwable failure) {
        Causes causes = Causes.withSuppressed(failure);
        return causes.contains(TransactionSystemException.class)
                && causes.contains(SQLException.class)
                && !hasSqlState(failure);
    }

    /** Whether one message can be the reason of what looks like an outage: a statement failed on an open connection. */
    public static boolean canBeOfOneMessage(Throwable failure) {
        // After a failed commit, the connection was lost; after the listener's failure, that may have closed it.
        boolean found = isClosedAtEnd(failure) && !Causes.of(failure).contains(TransactionSystemException.class);
        for (Throwable next : Causes.withSuppressed(failure)) {
            if (isWithoutConnection(next) || (next instanceof SQLException sql && isOfServer(sql))) {
                return false;
            }
            found |= next instanceof SQLException sql && kindOf(sql) == FailureKind.OUTAGE;
        }
        return found;
    }

    private static FailureKind kindOf(Throwable throwable) {
        if (throwable instanceof SQLException sql) {
            return kindOf(sql);
        }
        if (isWithoutConnection(throwable)) {
            return FailureKind.OUTAGE;
        }
        if ((throwable instanceof RecoverableDataAccessException
                        || throwable instanceof DataAccessResourceFailureException)
                && !(throwable instanceof CannotGetJdbcConnectionException)
                && !hasSqlState(throwable)) {
            return FailureKind.OUTAGE;
        }
        if (throwable instanceof ClaimTimeoutException
                || throwable instanceof LockTimeoutException
                || throwable instanceof PessimisticLockingFailureException) {
            return FailureKind.CONTENTION;
        }
        return FailureKind.MESSAGE;
    }

    private static boolean isWithoutConnection(Throwable throwable) {
        return (throwable instanceof CannotCreateTransactionException
                        || throwable instanceof CannotGetJdbcConnectionException)
                && !(throwable instanceof NestedTransactionNotSupportedException)
                && !isErrorInProgram(throwable);
    }

    private static boolean isErrorInProgram(Throwable throwable) {
        Causes causes = Causes.withSuppressed(throwable);
        return !causes.contains(SQLException.class)
                && ERRORS_IN_PROGRAM.stream().anyMatch(causes::contains);
    }

    private static boolean hasSqlState(Throwable throwable) {
        return Causes.withSuppressed(throwable).all(SQLException.class).anyMatch(sql -> sql.getSQLState() != null);
    }

    /**
     * Kinds of failures by SQL state and code, and by class only if the state says little: MariaDB's driver throws what it
     * does not know, such as a {@code signal}, as a failure of the connection. Statements that were canceled or timed out
     * (57014, 70100) or are too complex (54) are the message's failure.
     */
    private static FailureKind kindOf(SQLException exception) {
        String state = Objects.requireNonNullElse(exception.getSQLState(), "");
        int code = exception.getErrorCode();
        if (OUTAGE_CODES.contains(code)
                || OUTAGE_STATES.contains(state)
                || OUTAGE_CLASSES.stream().anyMatch(state::startsWith)) {
            return FailureKind.OUTAGE;
        }
        if (CONTENTION_CODES.contains(code) || CONTENTION_STATES.contains(state)) {
            return FailureKind.CONTENTION;
        }
        return (isOfConnection(exception) && isUnspecific(state)) ? FailureKind.OUTAGE : FailureKind.MESSAGE;
    }

    private static boolean isOfConnection(SQLException exception) {
        return exception instanceof SQLTransientConnectionException
                || exception instanceof SQLNonTransientConnectionException
                || exception instanceof SQLRecoverableException;
    }

    /** Whether a database has the state for many things; most states of H2 are its error codes. */
    private static boolean isUnspecific(String state) {
        return state.length() < 2 || state.startsWith("90") || UNSPECIFIC_STATES.contains(state);
    }

    /** Whether it is about the server rather than the statement, or about a connection that was refused. */
    private static boolean isOfServer(SQLException exception) {
        String state = exception.getSQLState();
        return (state == null)
                ? isOfConnection(exception)
                : STATES_OF_SERVER.contains(state) || CODES_OF_SERVER.contains(exception.getErrorCode());
    }
}
