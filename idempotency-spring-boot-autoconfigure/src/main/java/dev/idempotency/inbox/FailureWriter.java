package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.store.JdbcProcessedMessageStore;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes that messages have failed.
 *
 * <p>Those that are in the table and those that are not are written in transactions of their own: so each transaction
 * locks rows in the order of their ids, as the one of a listener does, and none waits for another in a circle.
 */
final class FailureWriter {

    private static final int MAX_TRIES = 5;

    private final JdbcProcessedMessageStore store;
    private final InboxTable table;
    private final TransactionTemplate transaction;

    FailureWriter(JdbcProcessedMessageStore store) {
        IdempotencyDatabase database = store.database();
        this.store = store;
        this.table = new InboxTable(database, database.jdbc(InboxTable.TIMEOUT_SECONDS));
        this.transaction = database.newTransaction();
    }

    void write(List<KeptMessage> messages, String trace) {
        List<KeptMessage> open = messages;
        String error = trace;
        for (int tries = 1; !open.isEmpty(); tries++) {
            try {
                open = update(open, error);
                insert(open, error);
                open = List.of();
            } catch (DuplicateKeyException | PessimisticLockingFailureException ex) {
                // Somebody else wrote one of them in this moment: now it is there to be locked.
                if (tries == MAX_TRIES) {
                    throw ex;
                }
            } catch (DataIntegrityViolationException ex) {
                // Not every database has every character.
                String plain = StackTraceFormatter.toAscii(error);
                if (plain.equals(error)) {
                    throw ex;
                }
                error = plain;
            }
        }
    }

    /**
     * Updates those that are in the table, and returns the others. What has been processed by somebody else in the
     * meantime stays so. That is asked after the rows have been locked: whoever processes one of them now has to wait for
     * the lock, and will say so after us.
     */
    private List<KeptMessage> update(List<KeptMessage> messages, String error) {
        return this.transaction.execute(status -> {
            Set<MessageId> known = this.table.lock(ids(messages));
            Set<MessageId> processed = processed(known);
            List<KeptMessage> failed = messages.stream()
                    .filter(message -> known.contains(message.id()) && !processed.contains(message.id()))
                    .toList();
            this.table.updateFailed(failed, error);
            return messages.stream()
                    .filter(message -> !known.contains(message.id()))
                    .toList();
        });
    }

    /**
     * Inserts those that are not in the table. Who processes one of them at the same time makes it a duplicate; whether
     * somebody did so, and was forgotten since, is asked once the rows are there to be waited for.
     */
    private void insert(List<KeptMessage> messages, String error) {
        this.transaction.executeWithoutResult(status -> {
            Set<MessageId> processed = processed(ids(messages));
            List<KeptMessage> missing = messages.stream()
                    .filter(message -> !processed.contains(message.id()))
                    .toList();
            this.table.insertFailed(missing, error);
            this.table.delete(processed(ids(missing)));
        });
    }

    private Set<MessageId> processed(Collection<MessageId> ids) {
        return ids.isEmpty() ? Set.of() : this.store.find(ids).keySet();
    }

    private static List<MessageId> ids(List<KeptMessage> messages) {
        return messages.stream().map(KeptMessage::id).toList();
    }
}
