package dev.idempotency.internal.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.OperatorActionException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.Inbox.ReplayResult;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.job.RepublishedHeaders;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.job.Page;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/** {@link Inbox} in a table beside the processed messages. */
public final class JdbcInbox implements Inbox, DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(JdbcInbox.class);

    private static final int REPLAYS_AT_A_TIME = 1000;

    private final InboxReader reader;
    private final InboxTable table;
    private final TransactionTemplate transaction;
    private final ProcessedMessageStore store;
    private final JdbcInboxRecorder.Factory listeners;
    private final RawRecordProducers producers;
    private final IdempotencyEventListener observers;

    public JdbcInbox(
            JdbcProcessedMessageStore store,
            JdbcInboxRecorder.Factory listeners,
            RawRecordProducers producers,
            IdempotencyEventListener observers) {
        IdempotencyDatabase database = store.database();
        this.reader = new InboxReader(database);
        this.table = new InboxTable(database, database.jdbc(InboxTable.TIMEOUT_SECONDS));
        this.transaction = database.newTransaction();
        this.store = store;
        this.listeners = listeners;
        this.producers = producers;
        this.observers = observers;
    }

    @Override
    public Page<InboxEntry> find(InboxQuery query) {
        return this.reader.find(query);
    }

    @Override
    public @Nullable InboxMessage find(MessageId id) {
        return this.reader.find(id);
    }

    @Override
    public Map<MessageId, InboxStatus> statuses(Collection<MessageId> ids) {
        return ids.isEmpty() ? Map.of() : this.reader.statuses(ids);
    }

    @Override
    public void replay(MessageId id) {
        InboxMessage message = replayable(id);
        if (message.entry().status() == InboxStatus.PROCESSED) {
            throw refused(id, "it has been processed. Forget it on purpose to have it processed a second time.");
        }
        replay(message, false);
    }

    @Override
    public void forgetAndReplay(MessageId id) {
        replay(replayable(id), true);
    }

    @Override
    public ReplayResult replayFailed(String consumer) {
        Instant now = this.transaction.execute(status -> this.table.now());
        long sent = 0;
        long refused = 0;
        List<MessageId> next;
        do {
            // Those that were refused stay at the beginning of the list.
            next = this.reader.replayable(consumer, now, refused, REPLAYS_AT_A_TIME);
            for (MessageId id : next) {
                InboxMessage message = find(id);
                if (message == null || message.entry().status() != InboxStatus.FAILED) {
                    continue;
                }
                try {
                    replay(message, false);
                    sent++;
                } catch (OperatorActionException ex) {
                    if (RawRecordProducers.isRefusal(ex)) {
                        logger.warn("{}", ex.getMessage());
                        refused++;
                    } else if (ex.getCause() != null) {
                        throw new OperatorActionException(String.valueOf(ex.getMessage()), ex.getCause(), sent);
                    }
                }
            }
        } while (!next.isEmpty());
        return new ReplayResult(sent, refused, this.reader.notReplayable(consumer));
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
        return message;
    }

    /**
     * Marks a message as replayed and sends it. It is sent before that is committed: a message that is not sent is neither
     * marked nor forgotten, and a listener that gets the record meanwhile waits for the row.
     */
    private void replay(InboxMessage message, boolean forget) {
        InboxEntry entry = message.entry();
        MessageId id = entry.id();
        AtomicBoolean sent = new AtomicBoolean();
        try {
            this.transaction.executeWithoutResult(status -> {
                mark(entry, forget);
                send(message, forget);
                sent.set(true);
            });
        } catch (DataAccessException | TransactionException ex) {
            if (!sent.get()) {
                throw ex;
            }
            throw failure(
                    id,
                    "was sent, but the database has not confirmed that it is marked%s. Look at it again."
                            .formatted(forget ? " and forgotten: otherwise it will be dropped as a duplicate" : ""),
                    ex);
        }
        logger.info(
                "Replayed message '{}' of consumer '{}', first {}, {} after {} attempts{}",
                id.value().replaceAll("\\p{Cntrl}", "?"),
                id.consumer(),
                entry.record(),
                entry.status(),
                entry.attempts(),
                forget ? ", and forgot that it was processed" : "");
        this.observers.replayed(id);
    }

    private void mark(InboxEntry entry, boolean forget) {
        InboxStatus expected = entry.status();
        // First, as listeners claim a message before they write it to the inbox.
        if (forget && this.store.forget(entry.id()) && expected == InboxStatus.PROCESSED) {
            expected = InboxStatus.FORGOTTEN;
        }
        // The second question is asked when the mark has locked the row: a listener that processes the message from now
        // on writes the row later.
        if (!this.table.markReplayed(entry.id(), expected)
                || (forget && !this.store.find(List.of(entry.id())).isEmpty())) {
            throw refused(entry.id(), "it has changed in this moment. Look at it again.");
        }
    }

    private void send(InboxMessage message, boolean forget) {
        InboxEntry entry = message.entry();
        try {
            this.producers.send(
                    this.listeners.connectionOf(entry.id().consumer()),
                    entry.record(),
                    message.key(),
                    message.payload(),
                    RepublishedHeaders.of(message.headers(), entry.record(), name -> false));
        } catch (OperatorActionException ex) {
            String consequence = forget ? ". Nothing was forgotten." : ". It can be replayed again.";
            throw failure(entry.id(), ex.getMessage() + consequence, ex.getCause());
        }
    }

    @Override
    public void destroy() {
        this.producers.close();
    }

    private static OperatorActionException refused(MessageId id, String why) {
        return failure(id, "was not replayed: " + why, null);
    }

    private static OperatorActionException failure(MessageId id, String what, @Nullable Throwable cause) {
        return new OperatorActionException(
                "Message '%s' of consumer '%s' %s".formatted(id.value(), id.consumer(), what), cause);
    }
}
