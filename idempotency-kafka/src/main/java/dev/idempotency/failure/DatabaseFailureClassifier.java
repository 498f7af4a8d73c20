package dev.idempotency.failure;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.LockTimeoutException;
import dev.idempotency.StoreFailedException;
import dev.idempotency.database.Causes;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
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

    static boolean isOfStore(Throwable failure) {
        return Causes.withSuppressed(failure).contains(StoreFailedException.class);
    }

    /**
     * Whether the transaction could not be ended because the pool had closed its connection: Spring drops the exception of
     * the commit, and its SQL state, if the rollback after it fails, too.
     */
    private static boolean isClosedAtEnd(Throwable failure) {
        Causes causes = Causes.withSuppressed(failure);
        return causes.contains(TransactionSystemException.class)
                && causes.contains(SQLException.class)
                && !hasSqlState(failure);
    }

    /** Whether one message can be the reason of what looks like an outage: a statement failed on an open connection. */
    static boolean canBeOfOneMessage(Throwable failure) {
        // After a failed commit, the connection was lost; after the listener's failure, that may have closed it.
        boolean found = isClosedAtEnd(failure) && !Causes.of(failure).contains(TransactionSystemException.class);
        for (Throwable next : Causes.withSuppressed(failure)) {
            if (isWithoutConnection(next) || (next instanceof SQLException sql && SqlStates.isOfServer(sql))) {
                return false;
            }
            found |= next instanceof SQLException sql && SqlStates.kindOf(sql) == FailureKind.OUTAGE;
        }
        return found;
    }

    private static FailureKind kindOf(Throwable throwable) {
        if (throwable instanceof SQLException sql) {
            return SqlStates.kindOf(sql);
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
}
