package dev.idempotency.failure;

import dev.idempotency.kafka.SpringKafkaInternals;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.listener.ContainerProperties.EOSMode;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.SeekUtils;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;

/**
 * What {@link RetryingErrorHandler} is, for containers of records that take part in Kafka transactions. The offset of a record
 * that is given up is committed in a transaction of its own.
 */
final class RetryingRollbackProcessor<K, V> extends DefaultAfterRollbackProcessor<K, V> {

    private final RequestedPauses pauses;

    RetryingRollbackProcessor(
            ConsumerAwareRecordRecoverer recoverer,
            BackOffSettings retries,
            ConsumerPauses pauses,
            KafkaAwareTransactionManager<?, ?> transactions) {
        this(recoverer, retries, new RequestedPauses(pauses), transactions);
    }

    private RetryingRollbackProcessor(
            ConsumerAwareRecordRecoverer recoverer,
            BackOffSettings retries,
            RequestedPauses pauses,
            KafkaAwareTransactionManager<?, ?> transactions) {
        super(
                pauses.pausingIfItFails(recoverer, retries.maxInterval()),
                retries.toBackOff(),
                pauses,
                new KafkaTemplate<>(transactions.getProducerFactory()),
                true);
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
        try {
            super.process(records, consumer, container, exception, recoverable, eosMode);
        } finally {
            this.pauses.pauseAt(records.get(0), Objects.requireNonNull(container));
        }
    }
}
