package dev.idempotency.inbox;

import dev.idempotency.failure.Causes;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;

/**
 * A failure of the database without the values that were to be written: drivers and servers put rows, and so payloads,
 * into their messages.
 */
final class SqlExceptionSanitizer {

    private static final String TASK = "keep a message in the inbox";

    private static final String DATA_EXCEPTION = "22";
    private static final String INTEGRITY_VIOLATION = "23";

    private SqlExceptionSanitizer() {}

    /** The same failure, with no more than the first line of what the database said where that is about values. */
    static RuntimeException of(DataAccessException failure) {
        SQLException innermost = innermost(failure);
        if (innermost == null) {
            return failure;
        }
        SQLException discreet = isAboutValues(innermost) ? firstLineOf(innermost) : innermost;
        DataAccessException translated = new SQLStateSQLExceptionTranslator().translate(TASK, null, discreet);
        return (translated != null) ? translated : new UncategorizedSQLException(TASK, null, discreet);
    }

    private static boolean isAboutValues(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith(DATA_EXCEPTION) || state.startsWith(INTEGRITY_VIOLATION));
    }

    private static SQLException firstLineOf(SQLException failure) {
        String message = String.valueOf(failure.getMessage());
        return new SQLException(
                message.lines().findFirst().orElse(message), failure.getSQLState(), failure.getErrorCode());
    }

    /** The exception of a batch has its values in the first line, too; the one that it leads to has not. */
    private static @Nullable SQLException innermost(Throwable failure) {
        SQLException found = null;
        for (Throwable next : Causes.of(failure)) {
            if (next instanceof SQLException sql) {
                found = (sql.getNextException() != null) ? sql.getNextException() : sql;
            }
        }
        return found;
    }
}
