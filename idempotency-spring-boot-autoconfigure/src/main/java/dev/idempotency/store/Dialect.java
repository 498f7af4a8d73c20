package dev.idempotency.store;

import java.sql.SQLException;

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

    /** Whether the exception says that a claim waited for too long. */
    boolean isTimeout(SQLException ex);
}
