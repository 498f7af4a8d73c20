package dev.idempotency.database;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** A unique constraint of one of the application's tables, or a unique index, as it was found at start-up. */
public interface UniqueConstraint {

    /**
     * Whether an error, of a statement or of a commit, tells that exactly this one was violated. Asked when the transaction
     * has been rolled back.
     *
     * @param jdbc for those who must ask the database which one it was
     */
    boolean isViolatedIn(SQLException error, JdbcTemplate jdbc);

    /**
     * Whether the row that stood in the way is there. If it is not, the transaction that was rolled back had inserted it
     * itself.
     *
     * @param violation an error that tells of a violation of this one
     * @return {@code null} if that cannot be told
     */
    @Nullable
    Boolean isTaken(SQLException violation, JdbcTemplate jdbc);
}
