package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * The record that messages have failed.
 *
 * <p>Those that are in the table and those that are not are written in transactions of their own: so each transaction
 * locks rows in the order of their ids, as the one of a listener does, and none waits for another in a circle.
 */
final class FailureRecord {

    private static final int MAX_TRIES = 5;

    private final InboxDatabase database;
    private final ProcessedMessageStore store;
    private List<KeptMessage> open;
    private String error;

    FailureRecord(InboxDatabase database, ProcessedMessageStore store, List<KeptMessage> messages, String error) {
        this.database = database;
        this.store = store;
        this.open = messages;
        this.error = error;
    }

    void write() {
        for (int tries = 1; !this.open.isEmpty(); tries++) {
            try {
                this.open = this.database.callInNewTransaction(this::update);
                this.open = this.database.callInNewTransaction(this::insert);
            } catch (DuplicateKeyException | PessimisticLockingFailureException ex) {
                // Somebody else wrote one of them in this moment: now it is there to be locked.
                if (tries == MAX_TRIES) {
                    throw ex;
                }
            } catch (DataIntegrityViolationException ex) {
                // Not every database has every character.
                String plain = FailureText.plain(this.error);
                if (plain.equals(this.error)) {
                    throw ex;
                }
                this.error = plain;
            }
        }
    }

    /**
     * Updates those that are in the table, and returns the others. What has been processed by somebody else in the
     * meantime stays so. That is asked after the rows have been locked: whoever processes one of them now has to wait for
     * the lock, and will say so after us.
     */
    private List<KeptMessage> update(InboxTable table) {
        Set<MessageId> known = table.lock(ids(this.open));
        Set<MessageId> processed = processed(known);
        List<KeptMessage> failed = this.open.stream()
                .filter(message -> known.contains(message.id()) && !processed.contains(message.id()))
                .toList();
        table.updateFailed(failed, this.error);
        return this.open.stream()
                .filter(message -> !known.contains(message.id()))
                .toList();
    }

    /**
     * Inserts those that are not in the table. Who processes one of them at the same time makes it a duplicate; whether
     * somebody did so, and was forgotten since, is asked once the rows are there to be waited for.
     */
    private List<KeptMessage> insert(InboxTable table) {
        Set<MessageId> processed = processed(ids(this.open));
        List<KeptMessage> missing = this.open.stream()
                .filter(message -> !processed.contains(message.id()))
                .toList();
        table.insertFailed(missing, this.error);
        table.delete(processed(ids(missing)));
        return List.of();
    }

    private Set<MessageId> processed(Collection<MessageId> ids) {
        return ids.isEmpty() ? Set.of() : this.store.find(ids).keySet();
    }

    private static List<MessageId> ids(List<KeptMessage> messages) {
        return messages.stream().map(KeptMessage::id).toList();
    }
}
