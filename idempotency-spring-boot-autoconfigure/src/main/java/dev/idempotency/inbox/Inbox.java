package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.ReplayException;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.failure.Causes;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.dao.DataAccessException;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The messages that listeners with {@code inbox = "true"} were called with: to be looked at, and to be replayed.
 *
 * <p>A replay sends the record to its topic again, so that it takes the ordinary path with all its guarantees: whoever has
 * processed the message drops it. All groups that read the topic see it.
 */
public final class Inbox implements DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(Inbox.class);

    private static final int REPLAYS_AT_A_TIME = 1000;

    private final InboxReader reader;
    private final InboxTable table;
    private final TransactionTemplate transaction;
    private final ProcessedMessageStore store;
    private final ReplayProducer producer;
    private final ObserverNotifier<InboxObserver> observers;

    public Inbox(
            JdbcProcessedMessageStore store,
            InboxRecorderFactory listeners,
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            @Nullable String applicationName,
            ObserverNotifier<InboxObserver> observers) {
        IdempotencyDatabase database = store.database();
        this.reader = new InboxReader(database);
        this.table = new InboxTable(database, database.jdbc(InboxTable.TIMEOUT_SECONDS));
        this.transaction = database.newTransaction();
        this.store = store;
        this.producer = new ReplayProducer(listeners::connectionOf, producerFactory, applicationName);
        this.observers = observers;
    }

    /** A page of the messages that fit the query, what changed last first. */
    public InboxPage find(InboxQuery query) {
        return this.reader.find(query);
    }

    /** One message with all that was received of it, or {@code null} if it is not in the inbox. */
    public @Nullable InboxMessage find(MessageId id) {
        return this.reader.find(id);
    }

    /**
     * What became of messages, as far as they are in the inbox.
     *
     * @param ids ids of one consumer, a thousand at most
     */
    public Map<MessageId, InboxStatus> statuses(Collection<MessageId> ids) {
        return this.reader.statuses(ids);
    }

    /**
     * Sends a message that has not been processed, or was forgotten on purpose since, to its topic again.
     *
     * @throws ReplayException if it is not there, has been processed, is without its payload, or could not be sent
     */
    public void replay(MessageId id) {
        InboxMessage message = replayable(id);
        if (message.entry().status() == InboxStatus.PROCESSED) {
            throw refused(
                    id,
                    isProcessed(id)
                            ? "it has been processed, so that its replay would be dropped as a duplicate. Forget it on"
                                    + " purpose to have it processed a second time."
                            : "it has been processed and is no longer remembered for that, so that its replay would be"
                                    + " processed a second time. Ask for that on purpose: forget it and replay it.");
        }
        if (!replay(message)) {
            throw changed(id);
        }
    }

    /**
     * Forgets that a message has been processed and sends it to its topic again: its effects will happen a second time.
     *
     * @throws ReplayException if it is not there, is without its payload, or could not be sent: then nothing is forgotten
     */
    public void forgetAndReplay(MessageId id) {
        InboxMessage message = replayable(id);
        AtomicBoolean sent = new AtomicBoolean();
        try {
            if (!forgetAndSend(message, sent)) {
                throw changed(id);
            }
        } catch (DataAccessException | TransactionException ex) {
            if (!sent.get()) {
                throw ex;
            }
            throw failure(
                    id,
                    "was sent, but that it was processed could not be forgotten: it will be dropped as a duplicate,"
                            + " unless the database has committed without an answer. Look at it again.",
                    ex);
        }
        tell(message.entry(), ", and forgot that it was processed");
    }

    /**
     * Sends it before the forgetting is committed: what is not sent is not forgotten. Whoever is given the record
     * meanwhile waits for the claim.
     */
    private boolean forgetAndSend(InboxMessage message, AtomicBoolean sent) {
        InboxEntry entry = message.entry();
        return tryInTransaction(() -> {
            // First, as listeners claim a message before they write it to the inbox.
            boolean marked = this.store.forget(entry.id()) && entry.status() == InboxStatus.PROCESSED;
            InboxStatus expected = marked ? InboxStatus.FORGOTTEN : entry.status();
            // Asked when the mark has locked the row: who processes the message from now on writes the row after this.
            if (!this.table.markReplayed(entry.id(), expected) || isProcessed(entry.id())) {
                return false;
            }
            try {
                this.producer.send(message);
            } catch (Exception ex) {
                throw notSent(entry, ex, "Nothing was forgotten.");
            }
            sent.set(true);
            return true;
        });
    }

    private static ReplayException changed(MessageId id) {
        return refused(id, "it has changed in this moment. Look at it again.");
    }

    /**
     * Sends all messages of a consumer that have failed, until now, to their topics again, in the order of their
     * records. One that is refused, such as one that is too large, does not keep the others from being sent. Messages that
     * have the id of another one are left out, as they would be refused again.
     *
     * @throws ReplayException if one could not be sent and neither could the next; those before it were
     */
    public ReplayResult replayFailed(String consumer) {
        Instant now = this.transaction.execute(status -> this.table.now());
        long sent = 0;
        long refused = 0;
        for (List<MessageId> next = nextFailed(consumer, now); !next.isEmpty(); next = nextFailed(consumer, now)) {
            for (MessageId id : next) {
                InboxMessage message = find(id);
                if (message == null || message.entry().status() != InboxStatus.FAILED) {
                    continue;
                }
                try {
                    sent += replay(message) ? 1 : 0;
                } catch (ReplayException ex) {
                    if (!RawRecordProducers.isRefusal(ex)) {
                        throw new ReplayException(String.valueOf(ex.getMessage()), ex.getCause(), sent);
                    }
                    refused++;
                }
            }
        }
        return new ReplayResult(sent, refused, this.reader.notReplayable(consumer));
    }

    private List<MessageId> nextFailed(String consumer, Instant upTo) {
        return this.reader.replayable(consumer, upTo, REPLAYS_AT_A_TIME);
    }

    private InboxMessage replayable(MessageId id) {
        InboxMessage message = find(id);
        if (message == null) {
            throw refused(id, "it is not in the inbox.");
        }
        if (message.entry().payloadOmitted() != null) {
            throw refused(
                    id,
                    "its payload was not kept (%s). Raise idempotency.inbox.max-payload for the next ones."
                            .formatted(message.entry().payloadOmitted()));
        }
        MessageId shared = ConflictingId.sharedBy(id);
        if (shared != null && isProcessed(shared)) {
            throw refused(
                    id,
                    ("its own id is '%s', under which another message has been processed, so that its replay would be"
                                    + " refused again. Send it with another id, or forget the other one on purpose before.")
                            .formatted(shared.value()));
        }
        return message;
    }

    /**
     * Marks the message and sends it, unless somebody else did so or it came back in the meantime. In this order a crash
     * between the two leaves a message that is marked and can be replayed again.
     */
    private boolean replay(InboxMessage message) {
        InboxEntry entry = message.entry();
        if (!tryInTransaction(() -> this.table.markReplayed(entry.id(), entry.status()))) {
            return false;
        }
        try {
            this.producer.send(message);
        } catch (Exception ex) {
            takeBack(entry, ex);
            throw notSent(entry, ex, "It can be replayed again.");
        }
        tell(entry, "");
        return true;
    }

    /** Commits the work only if it says that it is done. */
    private boolean tryInTransaction(BooleanSupplier work) {
        return this.transaction.execute(status -> {
            boolean done = work.getAsBoolean();
            if (!done) {
                status.setRollbackOnly();
            }
            return done;
        });
    }

    private void tell(InboxEntry entry, String more) {
        MessageId id = entry.id();
        logger.info(
                "Replayed message '{}' of consumer '{}', first {}, {} after {} attempts{}",
                id.value().replaceAll("\\p{Cntrl}", "?"),
                id.consumer(),
                entry.record(),
                entry.status(),
                entry.attempts(),
                more);
        this.observers.tell(observer -> observer.replayed(id));
    }

    private boolean isProcessed(MessageId id) {
        return !this.store.find(List.of(id)).isEmpty();
    }

    private static ReplayException notSent(InboxEntry entry, Exception failure, String whatHolds) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return failure(
                entry.id(),
                "could not be sent to %s: %s. %s"
                        .formatted(entry.record().topic(), Causes.of(failure).deepest(), whatHolds),
                failure);
    }

    private void takeBack(InboxEntry entry, Exception failure) {
        try {
            String error = StackTraceFormatter.toAscii(StackTraceFormatter.format(failure));
            this.transaction.executeWithoutResult(
                    status -> this.table.takeReplayBack(entry.id(), entry.status(), error));
        } catch (DataAccessException | TransactionException ex) {
            // It stays marked, and can be replayed again as it is.
            failure.addSuppressed(ex);
        }
    }

    @Override
    public void destroy() {
        this.producer.close();
    }

    private static ReplayException refused(MessageId id, String why) {
        return failure(id, "was not replayed: " + why, null);
    }

    private static ReplayException failure(MessageId id, String what, @Nullable Exception cause) {
        return new ReplayException(
                "Message '%s' of consumer '%s' %s".formatted(id.value(), id.consumer(), what), cause);
    }
}
