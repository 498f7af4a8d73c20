package dev.idempotency.failure;

import dev.idempotency.ClaimTimeoutException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayDeque;
import java.util.Arrays;
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

/**
 * Knows the failures of databases, wherever they are among the causes and the suppressed exceptions: a listener may have
 * wrapped one, and a rollback that failed tells of the connection that was lost.
 *
 * <p>SQL states decide where there are any. A statement that was canceled or timed out (57014) and one that is too
 * complex (54) are the listener's own, though Spring translates both to a resource failure.
 */
public final class DatabaseFailureClassifier implements FailureClassifier {

    private static final Set<String> OUTAGE_CLASSES = Set.of("08", "53", "58");

    /** Read-only (a replica after a failover), unknown outcome, and the server going down, down, or coming up. */
    private static final Set<String> OUTAGE_STATES =
            Set.of("25006", "40003", "57P01", "57P02", "57P03", "57P04", "57P05");

    /** Serialization failure, deadlock, lock not available. */
    private static final Set<String> CONTENTION_STATES = Set.of("40001", "40P01", "55P03");

    private static final String UNSPECIFIC_STATE = "HY000";

    /** MySQL and MariaDB: read-only, by option or by mode. */
    private static final Set<Integer> READ_ONLY_CODES = Set.of(1290, 1836);

    @Override
    public FailureKind classify(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Throwable> open = new ArrayDeque<>();
        open.add(failure);
        FailureKind worst = FailureKind.MESSAGE;
        while (!open.isEmpty()) {
            Throwable next = open.remove();
            if (!seen.add(next)) {
                continue;
            }
            FailureKind kind = kindOf(next);
            if (kind == FailureKind.OUTAGE) {
                return kind;
            }
            if (kind == FailureKind.CONTENTION) {
                worst = kind;
            }
            addIfPresent(open, next.getCause());
            open.addAll(Arrays.asList(next.getSuppressed()));
            if (next instanceof SQLException sql) {
                addIfPresent(open, sql.getNextException());
            }
        }
        return worst;
    }

    private static void addIfPresent(Deque<Throwable> open, @Nullable Throwable throwable) {
        if (throwable != null) {
            open.add(throwable);
        }
    }

    private static FailureKind kindOf(Throwable throwable) {
        if (throwable instanceof SQLException sql) {
            return kindOf(sql);
        }
        if (throwable instanceof CannotCreateTransactionException
                || throwable instanceof CannotGetJdbcConnectionException
                || throwable instanceof RecoverableDataAccessException
                || (throwable instanceof DataAccessResourceFailureException && !hasSqlState(throwable))) {
            return FailureKind.OUTAGE;
        }
        if (throwable instanceof ClaimTimeoutException || throwable instanceof PessimisticLockingFailureException) {
            return FailureKind.CONTENTION;
        }
        return FailureKind.MESSAGE;
    }

    private static FailureKind kindOf(SQLException exception) {
        if (exception instanceof SQLTransientConnectionException
                || exception instanceof SQLNonTransientConnectionException
                || exception instanceof SQLRecoverableException) {
            return FailureKind.OUTAGE;
        }
        String state = exception.getSQLState();
        if (state == null || state.length() < 2) {
            return FailureKind.MESSAGE;
        }
        if (OUTAGE_STATES.contains(state)
                || OUTAGE_CLASSES.contains(state.substring(0, 2))
                || (state.equals(UNSPECIFIC_STATE) && READ_ONLY_CODES.contains(exception.getErrorCode()))) {
            return FailureKind.OUTAGE;
        }
        return CONTENTION_STATES.contains(state) ? FailureKind.CONTENTION : FailureKind.MESSAGE;
    }

    private static boolean hasSqlState(Throwable throwable) {
        return throwable.getCause() instanceof SQLException sql && sql.getSQLState() != null;
    }
}
