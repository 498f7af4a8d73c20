package dev.idempotency.store;

import dev.idempotency.database.ConstraintName;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.UniqueConstraint;
import dev.idempotency.failure.Causes;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Finds, in what a listener or a commit has thrown, that one constraint was violated and no other one. */
final class UniqueConstraintViolations {

    private static final String INTEGRITY_VIOLATION = "23";

    /** What PostgreSQL answers once an error was caught; its driver gives that error as the cause. */
    private static final String IN_FAILED_TRANSACTION = "25P02";

    private final IdempotencyDatabase database;
    private final UniqueConstraint constraint;

    private UniqueConstraintViolations(IdempotencyDatabase database, UniqueConstraint constraint) {
        this.database = database;
        this.constraint = constraint;
    }

    /**
     * Those of a constraint that the database has.
     *
     * @throws IllegalArgumentException if it has none, or that cannot tell duplicates
     */
    static UniqueConstraintViolations of(ConstraintName name, IdempotencyDatabase database) {
        JdbcTemplate jdbc = database.jdbc();
        return new UniqueConstraintViolations(
                database, database.inTransaction(() -> database.dialect().uniqueConstraint(name, jdbc)));
    }

    /** The violation of this constraint, or {@code null} if there is none, or one of another constraint as well. */
    @Nullable
    SQLException find(Throwable failure) {
        List<SQLException> violations = violationsIn(failure);
        return (!violations.isEmpty()
                        && violations.stream().allMatch(each -> ask(jdbc -> this.constraint.isViolatedIn(each, jdbc))))
                ? violations.get(0)
                : null;
    }

    /** Whether the row is there that stood in the way, or {@code null} if that cannot be told. */
    @Nullable
    Boolean isTaken(SQLException violation) {
        return this.<@Nullable Boolean>ask(jdbc -> this.constraint.isTaken(violation, jdbc));
    }

    /** A batch says of itself what the error of its statement says, which follows it. What was caught does not count. */
    private static List<SQLException> violationsIn(Throwable failure) {
        List<SQLException> violations = new ArrayList<>();
        for (SQLException error : Causes.ofDatabase(failure)) {
            String state = error.getSQLState();
            if (IN_FAILED_TRANSACTION.equals(state)) {
                return List.of();
            }
            if (!(error instanceof BatchUpdateException) && state != null && state.startsWith(INTEGRITY_VIOLATION)) {
                violations.add(error);
            }
        }
        return violations;
    }

    private <T extends @Nullable Object> T ask(Function<JdbcTemplate, T> question) {
        return this.database.newTransaction().execute(status -> question.apply(this.database.lookUps()));
    }
}
