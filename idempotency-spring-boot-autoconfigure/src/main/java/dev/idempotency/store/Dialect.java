package dev.idempotency.store;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * How one database claims messages.
 *
 * <p>Define a bean of this type to use a database that is not known here.
 */
public interface Dialect {

    /** Folder of the migrations under {@code db/idempotency}, such as {@code postgresql}. */
    String vendor();

    /** The character that quotes an identifier. */
    String identifierQuote();

    /** The statement that claims messages in the table with this name, which is safe to be put into SQL. */
    ClaimStatement claimIn(String table);

    /** The query for an estimate of the table's rows that reads none of them; {@code null} if there is none. */
    default @Nullable String rowEstimateOf(ProcessedTable table) {
        return null;
    }

    /** Whether the exception says that a claim waited for too long. */
    boolean isTimeout(SQLException ex);
}
