package dev.idempotency.internal.dedup;

import dev.idempotency.Claim;
import dev.idempotency.internal.database.ClaimStatement;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PostgresClaimWithCommit;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.store.ClaimTransaction;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;

/**
 * Claims a message together with the commit of its transaction, in one round trip to PostgreSQL. The listener is called
 * before the claim; what it did is undone if the message turns out to be a duplicate. After a duplicate, which seldom comes
 * alone, messages are claimed first until there is a new one.
 */
record ClaimAtCommitStrategy(
        MessageIdStrategy claimFirst, ClaimTransaction transaction, Ring ring, ClaimStatement claimAndCommit)
        implements ClaimAfterCallStrategy {

    ClaimAtCommitStrategy(MessageIdStrategy claimFirst, IdempotencyDatabase database, Duration claimTimeout) {
        this(
                claimFirst,
                new ClaimTransaction(database, claimTimeout),
                new Ring(database),
                new Ring(database).claims(PostgresClaimWithCommit::new, ids -> Map.of()));
    }

    /** Claims first while a table is being switched to a ring, as that may take more than one statement. */
    @Override
    public ClaimStrategy within(boolean ownTransaction) {
        return (ownTransaction && !this.claimFirst.expectsDuplicates() && isComplete()) ? this : this.claimFirst;
    }

    private boolean isComplete() {
        return StoreExceptionTranslator.attempt(() -> "read the state of the ring", this.ring::isComplete);
    }

    /** The server skips the commit if the insert fails, so that a violation leaves nothing behind. */
    @Override
    public void commit(List<InboundMessage> accepted) {
        InboundMessage message = accepted.get(0);
        if (message.id() != null) {
            Claim claim = new Claim(message.id(), message.coordinates(), message.payloadDigest());
            try {
                this.transaction.claim(this.claimAndCommit, List.of(claim));
            } catch (BadSqlGrammarException | PermissionDeniedDataAccessException ex) {
                // The table is not what it was. All else is a failure of the commit, as any listener may have.
                throw StoreExceptionTranslator.translate("claim " + message.coordinates(), ex);
            }
        }
    }

    /** Whatever has failed: a message that was processed before is a duplicate. */
    @Override
    public @Nullable ClaimResult refusalOf(InboundMessage message, Throwable failure) {
        return this.claimFirst.findDuplicate(message);
    }
}
