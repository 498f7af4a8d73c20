package dev.idempotency.database;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A user's dialect that says no more than it must: how messages are claimed. */
public final class MinimalDialect implements Dialect {

    private final Dialect known;

    /** {@code known} is the database's own dialect, of which nothing is taken over that a user may leave out. */
    public MinimalDialect(Dialect known) {
        this.known = known;
    }

    @Override
    public String vendor() {
        return this.known.vendor();
    }

    @Override
    public String identifierQuote() {
        return this.known.identifierQuote();
    }

    /** H2 does not ask the database when a savepoint is released. */
    @Override
    public @Nullable String transactionIdQuery() {
        return this.known.transactionIdQuery();
    }

    @Override
    public ClaimStatement claimIn(String table) {
        return this.known.claimIn(table);
    }

    @Override
    public boolean isTimeout(SQLException ex) {
        return this.known.isTimeout(ex);
    }
}
