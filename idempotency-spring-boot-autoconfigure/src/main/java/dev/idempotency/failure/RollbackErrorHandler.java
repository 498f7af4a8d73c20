package dev.idempotency.failure;

import java.io.Serial;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Leaves what fails in a Kafka transaction to the {@link OutageRollbackProcessor}, as containers do that have no error handler.
 * But one of those would lose the records of a poll if something around its listener fails.
 */
final class RollbackErrorHandler implements CommonErrorHandler {

    /** Rolls the transaction back. The container has handed over what was left of its poll, and knows only the first of it. */
    static final class RollbackException extends KafkaException {

        @Serial
        private static final long serialVersionUID = 1L;

        private final transient Exception failure;
        private final transient List<ConsumerRecord<?, ?>> records;

        RollbackException(Exception failure, List<ConsumerRecord<?, ?>> records) {
            super("The Kafka transaction is rolled back", Level.DEBUG, failure);
            this.failure = failure;
            this.records = records;
        }

        Exception failure() {
            return this.failure;
        }

        List<ConsumerRecord<?, ?>> records() {
            return this.records;
        }
    }

    private final PollFailureHandler pollFailures;

    RollbackErrorHandler(ContainerSuspension suspension) {
        this.pollFailures = new PollFailureHandler(new CommonErrorHandler() {}, suspension);
    }

    @Override
    public boolean seeksAfterHandling() {
        return true;
    }

    @Override
    public void handleRemaining(
            Exception thrown,
            List<ConsumerRecord<?, ?>> records,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        throw new RollbackException(thrown, records);
    }

    @Override
    public void handleBatch(
            Exception thrown,
            ConsumerRecords<?, ?> data,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            Runnable invokeListener) {
        throw new RollbackException(thrown, Redelivery.asList(data));
    }

    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        this.pollFailures.handle(Causes.makeFinite(thrown), consumer, container, batchListener);
    }
}
