package dev.idempotency.internal.dedup;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.event.Duplicate;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PostgresTransactionState;
import dev.idempotency.internal.database.UniqueConstraint;
import dev.idempotency.internal.store.ClaimTransaction;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.UnexpectedRollbackException;

/**
 * Recognises messages by a unique constraint of the application's: a message whose listener violates it, and no other
 * one, is a duplicate. Not so if the listener has caught that, if it happened in another transaction, or if the same
 * transaction had inserted the row.
 */
record UniqueConstraintStrategy(UniqueConstraint constraint, IdempotencyDatabase database, ClaimTransaction transaction)
        implements ClaimAfterCallStrategy {

    private static final String INTEGRITY_VIOLATION = "23";

    /** Every statement fails with it after an error was caught; the driver gives that error as the cause. */
    private static final String IN_FAILED_TRANSACTION = "25P02";

    @Override
    public boolean mayBeRefused() {
        return this.transaction.ask(PostgresTransactionState::isAborted);
    }

    @Override
    public @Nullable ClaimResult refusalOf(InboundMessage refused, Throwable failure) {
        // With an UnexpectedRollbackException the listener has caught the violation and returned.
        SQLException violation = (failure instanceof UnexpectedRollbackException) ? null : find(failure);
        if (violation == null) {
            return null;
        }
        MessageId id = Objects.requireNonNull(refused.id());
        Boolean taken = this.database
                .newTransaction()
                .execute(status -> this.constraint.isTaken(violation, this.database.lookUps()));
        // Without a committed row, the listener has inserted the key twice, or the row was deleted concurrently.
        return Boolean.FALSE.equals(taken)
                ? null
                : new ClaimResult(
                        List.of(),
                        List.of(new Duplicate(id, refused.coordinates(), DuplicateKind.UNKNOWN, null, null)));
    }

    /** Returns the violation of this constraint, or {@code null} if there is none, or one of another constraint as well. */
    private @Nullable SQLException find(Throwable failure) {
        List<SQLException> violations = new ArrayList<>();
        for (SQLException error : Causes.ofDatabase(failure)) {
            String state = String.valueOf(error.getSQLState());
            if (state.equals(IN_FAILED_TRANSACTION)) {
                return null;
            }
            // A batch repeats what the error of its statement says.
            if (!(error instanceof BatchUpdateException) && state.startsWith(INTEGRITY_VIOLATION)) {
                violations.add(error);
            }
        }
        boolean found = !violations.isEmpty() && violations.stream().allMatch(this.constraint::isViolatedIn);
        return found ? violations.get(0) : null;
    }
}
