package dev.idempotency.failure;

import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.StoreFailedException;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.TransactionUsageException;

/**
 * Recognises the failures of databases, wherever they are among the causes and the suppressed exceptions: a listener may have
 * wrapped one, and a rollback that failed tells of the connection that was lost.
 *
 * <p>SQL states decide where there are any. Whatever fails a statement of the library's own ({@link
 * StoreFailedException}) is not the message's fault. Errors in the program are never the database's, though Spring says of
 * some that a transaction could not be created.
 */
public final class DatabaseFailureClassifier implements FailureClassifier {

    private static final int MAX_CAUSES = 1000;

    @Override
    public FailureKind classify(Throwable failure) {
        boolean own = false;
        FailureKind worst = FailureKind.MESSAGE;
        for (Throwable next : collectAll(failure)) {
            FailureKind kind = kindOf(next);
            if (kind == FailureKind.OUTAGE) {
                return kind;
            }
            if (kind == FailureKind.CONTENTION) {
                worst = kind;
            }
            own |= next instanceof StoreFailedException;
        }
        return (own && worst == FailureKind.MESSAGE) ? FailureKind.OUTAGE : worst;
    }

    /** Whether a statement of the library's own has failed. */
    static boolean isOfStore(Throwable failure) {
        return collectAll(failure).stream().anyMatch(StoreFailedException.class::isInstance);
    }

    /**
     * Whether one message alone can be the reason of what looks like an outage: a statement on a connection that was
     * there has failed, rather than that none was to be had, that the server went down, or that its disk failed.
     */
    static boolean canBeOfOneMessage(Throwable failure) {
        boolean found = false;
        for (Throwable next : collectAll(failure)) {
            if (isWithoutConnection(next) || (next instanceof SQLException sql && SqlStates.isOfServer(sql))) {
                return false;
            }
            found |= next instanceof SQLException sql && SqlStates.kindOf(sql) == FailureKind.OUTAGE;
        }
        return found;
    }

    /** The failure and all that it was caused by, each once: some cause each other, and some chains have no end. */
    private static Collection<Throwable> collectAll(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> all = new ArrayDeque<>();
        Deque<Throwable> open = new ArrayDeque<>();
        open.add(failure);
        while (!open.isEmpty() && all.size() < MAX_CAUSES) {
            Throwable next = open.remove();
            if (seen.add(next)) {
                all.add(next);
                addIfPresent(open, causeOf(next));
                open.addAll(Arrays.asList(next.getSuppressed()));
                if (next instanceof SQLException sql) {
                    addIfPresent(open, sql.getNextException());
                }
            }
        }
        return all;
    }

    private static @Nullable Throwable causeOf(Throwable failure) {
        try {
            return failure.getCause();
        } catch (RuntimeException | StackOverflowError ex) {
            return null;
        }
    }

    private static void addIfPresent(Deque<Throwable> open, @Nullable Throwable throwable) {
        if (throwable != null) {
            open.add(throwable);
        }
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
        if (throwable instanceof ClaimTimeoutException || throwable instanceof PessimisticLockingFailureException) {
            return FailureKind.CONTENTION;
        }
        return FailureKind.MESSAGE;
    }

    /** Whether it says that there is no connection, and that not for an error in the program. */
    private static boolean isWithoutConnection(Throwable throwable) {
        return (throwable instanceof CannotCreateTransactionException
                        || throwable instanceof CannotGetJdbcConnectionException)
                && !(throwable instanceof NestedTransactionNotSupportedException)
                && !isErrorInProgram(throwable);
    }

    private static boolean isErrorInProgram(Throwable throwable) {
        Collection<Throwable> all = collectAll(throwable);
        return all.stream().noneMatch(SQLException.class::isInstance)
                && all.stream()
                        .anyMatch(cause -> cause instanceof TransactionUsageException
                                || cause instanceof NestedTransactionNotSupportedException
                                || cause instanceof IllegalStateException
                                || cause instanceof IllegalArgumentException
                                || cause instanceof UnsupportedOperationException
                                || cause instanceof ClassCastException
                                || cause instanceof NullPointerException);
    }

    private static boolean hasSqlState(Throwable throwable) {
        return collectAll(throwable).stream()
                .anyMatch(cause -> cause instanceof SQLException sql && sql.getSQLState() != null);
    }
}
