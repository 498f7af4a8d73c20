package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.observe.InboxObserver;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;

/** Keeps messages in the table of the inbox. */
final class JdbcInboxRecorder implements InboxRecorder {

    private static final Logger logger = LoggerFactory.getLogger(JdbcInboxRecorder.class);

    private final InboxDatabase database;
    private final ProcessedMessageStore store;
    private final MessageKeeping keeping;
    private final FailureClassifier classifier;
    private final InboxObserver observer;

    JdbcInboxRecorder(
            InboxDatabase database,
            ProcessedMessageStore store,
            MessageKeeping keeping,
            FailureClassifier classifier,
            InboxObserver observer) {
        this.database = database;
        this.store = store;
        this.keeping = keeping;
        this.classifier = classifier;
        this.observer = observer;
    }

    @Override
    public void processed(List<DeliveredMessage> messages) {
        try {
            this.database.inListenersTransaction().complete(this.keeping.keep(messages));
        } catch (DataAccessException ex) {
            throw DiscreetFailure.of(ex);
        }
    }

    @Override
    public void failed(List<DeliveredMessage> messages, Throwable failure) {
        if (this.classifier.classify(failure) == FailureKind.OUTAGE) {
            // Not the messages' failure; and where there is no database, waiting for it twice helps nobody.
            return;
        }
        try {
            List<KeptMessage> kept = this.keeping.keep(messages);
            String error = FailureText.of(failure);
            try {
                this.database.inNewTransaction(table -> record(table, kept, error));
            } catch (DuplicateKeyException ex) {
                // Somebody else wrote one of them in this moment: now it is there to be locked.
                this.database.inNewTransaction(table -> record(table, kept, error));
            }
        } catch (RuntimeException ex) {
            RuntimeException reason = (ex instanceof DataAccessException data) ? DiscreetFailure.of(data) : ex;
            String consumer = messages.get(0).id().consumer();
            logger.warn(
                    "That {} of consumer '{}' failed could not be recorded in the inbox, {}. The message's own fate is"
                            + " not affected.",
                    messages.get(0).coordinates(),
                    consumer,
                    (messages.size() > 1) ? "nor " + (messages.size() - 1) + " more" : "alone",
                    reason);
            this.observer.unrecorded(consumer, reason);
        }
    }

    /**
     * What has been processed by somebody else in the meantime stays so. That is asked after the rows have been locked:
     * whoever processes one of them now has to wait for the lock, and will say so after us.
     */
    private void record(InboxTable table, List<KeptMessage> messages, String error) {
        List<MessageId> ids = messages.stream().map(KeptMessage::id).toList();
        Set<MessageId> known = table.lock(ids);
        Set<MessageId> processed = this.store.find(ids).keySet();
        table.updateFailed(
                ids.stream()
                        .filter(id -> known.contains(id) && !processed.contains(id))
                        .toList(),
                error);
        table.insertFailed(
                messages.stream()
                        .filter(message -> !known.contains(message.id()) && !processed.contains(message.id()))
                        .toList(),
                error);
    }
}
