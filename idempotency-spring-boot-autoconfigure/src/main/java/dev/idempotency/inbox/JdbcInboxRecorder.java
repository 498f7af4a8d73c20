package dev.idempotency.inbox;

import dev.idempotency.store.JdbcProcessedMessageStore;
import dev.idempotency.store.StoreExceptionTranslator;
import java.util.List;
import java.util.function.BiPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/** Keeps messages in the table of the inbox. */
final class JdbcInboxRecorder implements InboxRecorder {

    private static final Logger logger = LoggerFactory.getLogger(JdbcInboxRecorder.class);

    private final InboxTable table;
    private final FailureWriter failures;
    private final KeptMessageFactory keeping;
    private final BiPredicate<List<DeliveredMessage>, Throwable> isOutage;
    private final InboxObserver observer;

    JdbcInboxRecorder(
            JdbcProcessedMessageStore store,
            KeptMessageFactory keeping,
            BiPredicate<List<DeliveredMessage>, Throwable> isOutage,
            InboxObserver observer) {
        this.table = new InboxTable(store.database(), store.database().jdbc());
        this.failures = new FailureWriter(store);
        this.keeping = keeping;
        this.isOutage = isOutage;
        this.observer = observer;
    }

    @Override
    public void processed(List<DeliveredMessage> messages) {
        try {
            this.table.complete(this.keeping.keep(messages));
        } catch (DataAccessException ex) {
            throw StoreExceptionTranslator.translate(
                    "keep " + messages.get(0).coordinates() + " in the inbox", SqlExceptionSanitizer.sanitize(ex));
        }
    }

    @Override
    public void failed(List<DeliveredMessage> messages, Throwable failure) {
        try {
            if (this.isOutage.test(messages, failure)) {
                // Not the messages' failure; and where there is no database, waiting for it twice helps nobody.
                return;
            }
            this.failures.write(this.keeping.keep(messages), StackTraceFormatter.format(failure));
        } catch (RuntimeException ex) {
            RuntimeException reason =
                    (ex instanceof DataAccessException data) ? SqlExceptionSanitizer.sanitize(data) : ex;
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
}
