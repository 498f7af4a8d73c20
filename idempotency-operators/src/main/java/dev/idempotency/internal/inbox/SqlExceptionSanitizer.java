package dev.idempotency.internal.inbox;

import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.sql.SQLException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;

/**
 * Takes the values that were to be written out of a failure of the database: drivers and servers put rows, and so payloads,
 * into their messages.
 */
final class SqlExceptionSanitizer {

    private static final String TASK = "keep a message in the inbox";

    private static final String DATA_EXCEPTION = "22";
    private static final String INTEGRITY_VIOLATION = "23";

    /** PostgreSQL's, of which the cause is an error of the listener's own. */
    private static final String TRANSACTION_ABORTED = "25P02";

    private SqlExceptionSanitizer() {}

    /** The same failure, with no more than the first line of what the database said where that is about values. */
    static RuntimeException sanitize(DataAccessException failure) {
        SQLException innermost = StoreExceptionTranslator.innermost(failure);
        if (innermost == null) {
            return failure;
        }
        SQLException discreet = isAboutValues(innermost) ? firstLineOf(innermost) : innermost;
        DataAccessException translated = new SQLStateSQLExceptionTranslator().translate(TASK, null, discreet);
        return (translated != null) ? translated : new UncategorizedSQLException(TASK, null, discreet);
    }

    private static boolean isAboutValues(SQLException failure) {
        String state = failure.getSQLState();
        return state != null
                && (state.startsWith(DATA_EXCEPTION)
                        || state.startsWith(INTEGRITY_VIOLATION)
                        || state.equals(TRANSACTION_ABORTED));
    }

    private static SQLException firstLineOf(SQLException failure) {
        String message = String.valueOf(failure.getMessage());
        return new SQLException(
                message.lines().findFirst().orElse(message), failure.getSQLState(), failure.getErrorCode());
    }
}
