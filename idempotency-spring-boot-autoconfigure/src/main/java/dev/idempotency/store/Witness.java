package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import java.util.UUID;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Where only the database knows what became of a transaction, a row stands witness among the claims: it is written after them
 * and removed before the commit, so that nobody else has made it, and nobody ever sees it, unless somebody has committed the
 * transaction before its end.
 *
 * @param id the row
 * @param database where it stands
 */
record Witness(MessageId id, IdempotencyDatabase database) implements ClaimWatch {

    private static final String PREFIX = "idempotency-witness:";

    private static final String THIS = " where consumer_id = ? and message_id = ?";

    /** The consumer does nothing else meanwhile, not even poll. */
    private static final int TAKE_BACK_SECONDS = 5;

    static MessageId createId(String consumer) {
        return new MessageId(consumer, PREFIX + UUID.randomUUID());
    }

    @Override
    public boolean getAsBoolean() {
        return delete();
    }

    private boolean delete() {
        String sql = "delete from " + this.database.processedTable() + THIS;
        return this.database.inTransaction(template -> template.update(sql, this.id.consumer(), this.id.value()) > 0);
    }

    @Override
    public boolean takeBackIfCommitted(Runnable claims) {
        return isCommitted() && takeBack(claims);
    }

    /** Looks before it deletes, and so waits for nobody: the database may not have ended the failed transaction yet. */
    private boolean isCommitted() {
        String sql = "select message_id from " + this.database.processedTable() + THIS;
        return shortTransaction().execute(status -> !this.database
                .jdbc()
                .queryForList(sql, String.class, this.id.consumer(), this.id.value())
                .isEmpty());
    }

    private boolean takeBack(Runnable claims) {
        return shortTransaction().execute(status -> {
            boolean found = delete();
            if (found) {
                claims.run();
            }
            return found;
        });
    }

    private TransactionTemplate shortTransaction() {
        TransactionTemplate transaction = this.database.newTransaction();
        transaction.setTimeout(TAKE_BACK_SECONDS);
        return transaction;
    }
}
