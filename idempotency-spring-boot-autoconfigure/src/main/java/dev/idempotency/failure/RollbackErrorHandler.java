package dev.idempotency.failure;

import java.io.Serial;
import java.util.List;
import org.apache.commons.logging.LogFactory;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * The error handler of containers with Kafka transactions for which the application has none: without one, a container forgets
 * what it has polled when something fails around a transaction. What fails within one is rolled back, and handled then.
 */
final class RollbackErrorHandler implements CommonErrorHandler {

    private static final LogAccessor logger = new LogAccessor(LogFactory.getLog(RollbackErrorHandler.class));

    /** Has the container roll back. It is expected, so it is not logged. */
    private static final class RollbackException extends KafkaException {

        @Serial
        private static final long serialVersionUID = 1L;

        private final transient Exception failure;

        RollbackException(Exception failure) {
            super("The transaction is rolled back", Level.DEBUG, failure);
            this.failure = failure;
        }
    }

    /** Logs what failed around a transaction, as containers do. */
    private static final class LoggingErrorHandler implements CommonErrorHandler {

        @Override
        public void handleOtherException(
                Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
            logger.error(thrown, "Consumer exception");
        }
    }

    private final PollFailureHandler pollFailures;
    private final ThreadLocal<List<ConsumerRecord<?, ?>>> remaining = ThreadLocal.withInitial(List::of);

    RollbackErrorHandler(ContainerSuspension suspension) {
        this.pollFailures = new PollFailureHandler(new LoggingErrorHandler(), suspension);
    }

    @Override
    public boolean seeksAfterHandling() {
        return true;
    }

    /** Remembers the records by itself: if the rollback fails, that is what the container goes on with. */
    @Override
    public void handleRemaining(
            Exception thrown,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        this.remaining.set(List.copyOf(records));
        throw rollback(thrown);
    }

    @Override
    public void handleBatch(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        throw rollback(thrown);
    }

    /** What stops a container that is fenced must be seen by it. */
    private static RuntimeException rollback(Exception thrown) {
        return (thrown instanceof ProducerFencedException || thrown instanceof FencedInstanceIdException)
                ? (RuntimeException) thrown
                : new RollbackException(thrown);
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        this.pollFailures.handle(Causes.makeFinite(thrown), consumer, container, batchListener);
    }

    /** What was rolled back together with the records of its poll after it, which the container has given here. */
    @SuppressWarnings("unchecked") // They are of the same container.
    <K, V> List<ConsumerRecord<K, V>> withRemaining(List<ConsumerRecord<K, V>> rolledBack) {
        List<ConsumerRecord<?, ?>> known = this.remaining.get();
        this.remaining.remove();
        boolean same = !known.isEmpty() && known.get(0) == rolledBack.get(0);
        return same ? (List<ConsumerRecord<K, V>>) (List<?>) known : rolledBack;
    }

    /** Why a transaction was rolled back. */
    static Exception failureOf(Exception thrown) {
        return (thrown instanceof RollbackException rollback) ? rollback.failure : thrown;
    }
}
