package dev.idempotency.store;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.observe.Duplicate;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.UnexpectedRollbackException;

/**
 * Recognises messages by a unique constraint of the application's own: all may enter, and one whose listener violates that
 * constraint, and no other one, is a duplicate. When it was processed, and whether its record came again or another one, is
 * not known.
 *
 * <p>A violation that the listener has caught does not count, nor one in a transaction that is not the listener's, nor that
 * of a row which the same transaction had inserted: nobody else has applied the message then. The last two are told
 * apart as far as the driver, transaction managers and the database's errors allow.
 *
 * @param consumer whose messages they are
 * @param violations finds violations of the constraint
 * @param transaction the transaction of the listener
 * @param store who watches it
 */
record UniqueConstraintStrategy(
        String consumer,
        UniqueConstraintViolations violations,
        ClaimTransaction transaction,
        ProcessedMessageStore store)
        implements AdmissionStrategy {

    private static final Logger logger = LoggerFactory.getLogger(UniqueConstraintStrategy.class);

    @Override
    public Admission admit(List<Candidate> candidates) {
        this.transaction.require();
        return new Admission(candidates, List.of());
    }

    @Override
    public boolean isClaim() {
        return false;
    }

    @Override
    public ClaimWatch watchTransaction(Admission admission) {
        return this.store.watchTransaction(this.consumer);
    }

    @Override
    public boolean mayBeRefused(boolean anotherFailed) {
        Boolean failed = this.transaction.hasFailed();
        return (failed != null) ? failed : !anotherFailed;
    }

    @Override
    public boolean isRefusal(Throwable failure) {
        // The listener has caught what marked its transaction, and returned: it knows better than to call it a
        // duplicate.
        return !(failure instanceof UnexpectedRollbackException) && this.violations.find(failure) != null;
    }

    @Override
    public @Nullable Duplicate duplicateOf(Candidate refused, Throwable failure) {
        SQLException violation = this.violations.find(failure);
        if (violation == null) {
            return null;
        }
        MessageId id = Objects.requireNonNull(refused.id());
        if (Boolean.FALSE.equals(this.violations.isTaken(violation))) {
            logger.warn(
                    "The message {} of consumer '{}' has violated its constraint with a row of its own: none that is"
                            + " committed stands in its way, so it is no duplicate, and has failed. See whether the"
                            + " listener inserts the same key twice, or somebody has deleted the row since.",
                    refused.coordinates(),
                    this.consumer);
            return null;
        }
        return new Duplicate(id, refused.coordinates(), DuplicateKind.UNKNOWN, null, null);
    }
}
