package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.SpringKafkaInternals;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.listener.ContainerProperties.EOSMode;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;

/** What {@link RetryingErrorHandler} is, for containers of records that take part in Kafka transactions. */
final class RetryingRollbackProcessor<K, V> extends DefaultAfterRollbackProcessor<K, V> {

    private static final Logger logger = LoggerFactory.getLogger(RetryingRollbackProcessor.class);

    private final RequestedPauses pauses;

    RetryingRollbackProcessor(ConsumerAwareRecordRecoverer recoverer, BackOffSettings retries, ConsumerPauses pauses) {
        this(recoverer, retries, new RequestedPauses(pauses));
    }

    private RetryingRollbackProcessor(
            ConsumerAwareRecordRecoverer recoverer, BackOffSettings retries, RequestedPauses pauses) {
        super(pauses.pausingIfItFails(recoverer, retries.maxInterval()), retries.toBackOff(), pauses, null, false);
        this.pauses = pauses;
        RetryingErrorHandler.configure(this);
    }

    /** Whether a processor is the one that Spring Kafka provides: after ten attempts it drops the record. */
    static boolean isToBeProvidedFor(AfterRollbackProcessor<?, ?> present) {
        return present.getClass() == DefaultAfterRollbackProcessor.class
                && SpringKafkaInternals.backOffOf((DefaultAfterRollbackProcessor<?, ?>) present)
                        == SeekUtils.DEFAULT_BACK_OFF
                && SpringKafkaInternals.hasNoRecoverer((DefaultAfterRollbackProcessor<?, ?>) present);
    }

    @Override
    public void process(
            List<ConsumerRecord<K, V>> records,
            Consumer<K, V> consumer,
            @Nullable MessageListenerContainer container,
            Exception exception,
            boolean recoverable,
            EOSMode eosMode) {
        ConsumerRecord<K, V> first = records.get(0);
        try {
            super.process(records, consumer, container, exception, recoverable, eosMode);
        } finally {
            this.pauses.pauseAt(first, Objects.requireNonNull(container));
        }
        if (consumer.assignment().contains(Redelivery.partitionOf(first))
                && !Redelivery.isSoughtBack(List.of(first), consumer)) {
            commit(first, consumer);
        }
    }

    /** Not in a transaction: where none can be begun, the container would forget what is left of its poll. */
    private static void commit(ConsumerRecord<?, ?> givenUp, Consumer<?, ?> consumer) {
        try {
            consumer.commitSync(Map.of(Redelivery.partitionOf(givenUp), new OffsetAndMetadata(givenUp.offset() + 1)));
        } catch (RuntimeException ex) {
            logger.warn(
                    "The offset of {}, which was given up, could not be committed: it may be given up again",
                    RecordCoordinates.of(givenUp),
                    ex);
        }
    }
}
