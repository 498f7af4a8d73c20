package dev.idempotency.internal.inbox;

import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;

/** Failures as the inbox records and logs them. */
final class RecordedFailure {

    private static final int MAX_LENGTH = 8_000;

    private static final String TASK = "keep a message in the inbox";

    private static final String DATA_EXCEPTION = "22";
    private static final String INTEGRITY_VIOLATION = "23";

    /** PostgreSQL's, of which the cause is an error of the listener's own. */
    private static final String TRANSACTION_ABORTED = "25P02";

    private RecordedFailure() {}

    /**
     * The same failure, with no more than the first line of what the database said where that is about values: drivers and
     * servers put rows, and so payloads, into their messages.
     */
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

    /** The stack trace. Of a long one the middle is left out: its end has the root cause. */
    static String format(Throwable failure) {
        String text = trace(failure).replace('\0', '?');
        return (text.length() <= MAX_LENGTH)
                ? text
                : text.substring(0, MAX_LENGTH / 2) + "\n...\n" + text.substring(text.length() - MAX_LENGTH / 2);
    }

    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        try {
            failure.printStackTrace(new PrintWriter(trace));
            return trace.toString();
        } catch (RuntimeException | StackOverflowError ex) {
            // Its message or its causes throw, or have no end.
            return "%s%n%s cannot be printed: %s"
                    .formatted(
                            trace, failure.getClass().getName(), ex.getClass().getName());
        }
    }
}
