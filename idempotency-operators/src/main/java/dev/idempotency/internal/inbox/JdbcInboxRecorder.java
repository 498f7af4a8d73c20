package dev.idempotency.internal.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.definition.InboxRecorder;
import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.transaction.support.TransactionTemplate;

/** Writes the messages of a listener to the table of the inbox. */
public final class JdbcInboxRecorder implements InboxRecorder {

    private static final Logger logger = LoggerFactory.getLogger(JdbcInboxRecorder.class);

    private static final int MAX_TRIES = 5;

    /** Between the id of a message that has another one's and its coordinates; not in other ids, and harmless in URLs. */
    static final String CONFLICT = "~conflict:";

    private final JdbcProcessedMessageStore store;
    private final InboxTable inListenersTransaction;
    private final InboxTable inOwnTransaction;
    private final String completion;
    private final TransactionTemplate ownTransaction;
    private final Function<Delivered, StoredMessage> keeping;
    private final BiPredicate<List<Delivered>, Throwable> isOutage;
    private final IdempotencyEventListener observers;

    JdbcInboxRecorder(
            JdbcProcessedMessageStore store,
            Function<Delivered, StoredMessage> keeping,
            BiPredicate<List<Delivered>, Throwable> isOutage,
            IdempotencyEventListener observers) {
        IdempotencyDatabase database = store.database();
        this.store = store;
        this.inListenersTransaction = new InboxTable(database, database.jdbc());
        this.inOwnTransaction = new InboxTable(database, database.jdbc(InboxTable.TIMEOUT_SECONDS));
        this.completion = database.dialect().inboxCompletionIn(database.inboxTable());
        this.ownTransaction = database.newTransaction();
        this.keeping = keeping;
        this.isOutage = isOutage;
        this.observers = observers;
    }

    @Override
    public void processed(List<Delivered> messages) {
        try {
            this.inListenersTransaction.complete(
                    this.completion, messages.stream().map(this.keeping).toList());
        } catch (DataAccessException ex) {
            throw StoreExceptionTranslator.translate(
                    "keep " + messages.get(0).coordinates() + " in the inbox", RecordedFailure.sanitize(ex));
        }
    }

    @Override
    public void failed(List<Delivered> messages, Throwable failure) {
        try {
            if (this.isOutage.test(messages, failure)) {
                // Not the messages' failure, and the database is perhaps away.
                return;
            }
            InboxStatus status = Causes.of(failure).contains(UnknownOutcomeException.class)
                    ? InboxStatus.UNKNOWN
                    : InboxStatus.FAILED;
            writeFailed(messages.stream().map(this.keeping).toList(), status, RecordedFailure.format(failure));
        } catch (RuntimeException ex) {
            RuntimeException reason = (ex instanceof DataAccessException data) ? RecordedFailure.sanitize(data) : ex;
            String consumer = messages.get(0).id().consumer();
            logger.warn(
                    "That {} messages of consumer '{}' failed, {} first, could not be recorded in the inbox. Their own fate is"
                            + " not affected.",
                    messages.size(),
                    consumer,
                    messages.get(0).coordinates(),
                    reason);
            this.observers.unrecorded(consumer, reason);
        }
    }

    @Override
    public void conflicting(
            MessageId shared, RecordCoordinates coordinates, ConsumerRecord<?, ?> record, Throwable failure) {
        MessageId own = MessageId.of(shared.consumer(), shared.value() + CONFLICT + coordinates);
        failed(List.of(new Delivered(own, coordinates, record)), failure);
    }

    /**
     * Updates existing rows and inserts new ones in separate transactions: so each transaction locks
     * rows in the order of their ids, like a listener's transaction, and there is no deadlock.
     */
    private void writeFailed(List<StoredMessage> messages, InboxStatus status, String error) {
        for (int tries = 1; ; tries++) {
            try {
                insertFailed(updateFailed(messages, status, error), status, error);
                return;
            } catch (DuplicateKeyException | PessimisticLockingFailureException ex) {
                // Another transaction has just written one of them: now the row exists and can be locked.
                if (tries == MAX_TRIES) {
                    throw ex;
                }
            }
        }
    }

    /**
     * Updates messages that are in the table, and returns the others. Messages that were processed meanwhile keep that status.
     * This is checked after their rows have been locked: another transaction that processes one of them has to wait for the
     * lock, and updates the row afterwards.
     */
    private List<StoredMessage> updateFailed(List<StoredMessage> messages, InboxStatus status, String error) {
        return this.ownTransaction.execute(transaction -> {
            Set<MessageId> known = this.inOwnTransaction.lock(ids(messages));
            Set<MessageId> processed = findProcessed(known);
            List<StoredMessage> failed = messages.stream()
                    .filter(message -> known.contains(message.id()) && !processed.contains(message.id()))
                    .toList();
            this.inOwnTransaction.updateFailed(failed, status, error);
            return messages.stream()
                    .filter(message -> !known.contains(message.id()))
                    .toList();
        });
    }

    /**
     * Inserts messages that are not in the table. A message that is processed at the same time becomes a duplicate key;
     * whether one was processed before, and its row deleted since, is checked after the rows exist.
     */
    private void insertFailed(List<StoredMessage> messages, InboxStatus status, String error) {
        this.ownTransaction.executeWithoutResult(transaction -> {
            Set<MessageId> processed = findProcessed(ids(messages));
            List<StoredMessage> missing = messages.stream()
                    .filter(message -> !processed.contains(message.id()))
                    .toList();
            this.inOwnTransaction.insertFailed(missing, status, error);
            this.inOwnTransaction.delete(findProcessed(ids(missing)));
        });
    }

    private Set<MessageId> findProcessed(Collection<MessageId> ids) {
        return ids.isEmpty() ? Set.of() : this.store.find(ids).keySet();
    }

    private static List<MessageId> ids(List<StoredMessage> messages) {
        return messages.stream().map(StoredMessage::id).toList();
    }

    /** Creates the recorders of listeners that have an inbox, and knows the brokers that they read from. */
    public static final class Factory implements InboxRecorder.Factory {

        private final JdbcProcessedMessageStore store;
        private final int maxPayload;
        private final DeserializerInstrumentation receivedBytes;
        private final BiPredicate<List<Delivered>, Throwable> isOutage;
        private final IdempotencyEventListener observers;
        private final Map<String, BrokerConnection> connections = new ConcurrentHashMap<>();

        /** A payload of more than {@code maxPayload} bytes is left out, and a failure that is an outage is not recorded. */
        public Factory(
                JdbcProcessedMessageStore store,
                int maxPayload,
                DeserializerInstrumentation receivedBytes,
                BiPredicate<List<Delivered>, Throwable> isOutage,
                IdempotencyEventListener observers) {
            this.store = store;
            this.maxPayload = maxPayload;
            this.receivedBytes = receivedBytes;
            this.isOutage = isOutage;
            this.observers = observers;
        }

        @Override
        public InboxRecorder create(String consumer, AbstractMessageListenerContainer<?, ?> container) {
            this.connections.put(consumer, BrokerConnection.of(container));
            this.receivedBytes.rememberIn(container);
            boolean retries = container.getMainListenerId() != null;
            return new JdbcInboxRecorder(
                    this.store,
                    message -> StoredMessage.of(
                            message.id(),
                            message.coordinates(),
                            message.record(),
                            this.receivedBytes.records(),
                            this.maxPayload,
                            retries),
                    this.isOutage,
                    this.observers);
        }

        /** Where a consumer reads from, or {@code null} if it is none of this application's. */
        @Nullable
        BrokerConnection connectionOf(String consumer) {
            return this.connections.get(consumer);
        }
    }
}
