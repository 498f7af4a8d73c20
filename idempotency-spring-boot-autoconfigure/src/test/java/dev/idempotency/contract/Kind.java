package dev.idempotency.contract;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;

/** A kind of listener: how it receives messages, and how failures are handled and duplicates recognized. */
enum Kind {
    RECORD("record", Records::new),
    BATCH("batch", Batches::new),
    POLL("poll", Polls::new),
    MANUAL("manual ack", AcknowledgedRecords::new, "acknowledged"),
    MANUAL_BATCH("manual ack of a batch", AcknowledgedBatches::new, "acknowledged"),
    OWN_HANDLER("own error handler", Records::new, "handled"),
    OWN_HANDLER_BATCH("own error handler of a batch", Batches::new, "handled"),
    OWN_HANDLER_POLL("own error handler of a poll", Polls::new, "handled"),
    KAFKA_TRANSACTIONS("Kafka transactions", Records::new, "transactional"),
    RETRYABLE("@RetryableTopic", RetriedRecords::new),
    AT_COMMIT("claim at commit", RecordsAtCommit::new),
    AT_COMMIT_MANUAL("claim at commit, manual ack, inbox", AcknowledgedRecordsAtCommit::new, "acknowledged"),
    LOCK("lock", LockedRecords::new),
    LOCK_BATCH("lock of a batch", LockedBatches::new),
    LOCK_POLL("lock of a poll", LockedPolls::new),
    OFFSET("OFFSET", RecordsByOffset::new),
    OFFSET_BATCH("OFFSET of a batch", BatchesByOffset::new),
    OFFSET_POLL("OFFSET of a poll", PollsByOffset::new),
    VERSION("VERSION", RecordsByVersion::new),
    VERSION_BATCH("VERSION of a batch", BatchesByVersion::new),
    VERSION_POLL("VERSION of a poll", PollsByVersion::new),
    UNIQUE("UNIQUE_CONSTRAINT", RecordsByConstraint::new),
    UNIQUE_BATCH("UNIQUE_CONSTRAINT of a batch", BatchesByConstraint::new),
    UNIQUE_POLL("UNIQUE_CONSTRAINT of a poll", PollsByConstraint::new);

    /** Whether messages that are polled together share a transaction. */
    final boolean together;

    /** Whether messages are claimed after the listener has returned. */
    final boolean atCommit;

    /** Whether its messages lock a business key. */
    final boolean locks;

    /** Whether messages are kept in the inbox. */
    final boolean inbox;

    final DeduplicationStrategy strategy;
    final String onConflict;
    final Supplier<GenericListener> listener;

    /** How its container is set up: see {@link ContractApplication.OnJdbc#containers}. */
    final String container;

    private final String label;

    Kind(String label, Supplier<GenericListener> listener) {
        this(label, listener, "default");
    }

    Kind(String label, Supplier<GenericListener> listener, String container) {
        IdempotentListener annotation = listener.get().getClass().getAnnotation(IdempotentListener.class);
        this.label = label;
        this.listener = listener;
        this.container = container;
        this.atCommit = annotation.claimAtCommit().equals("true");
        this.locks = !annotation.lock().isEmpty();
        this.inbox = annotation.inbox().equals("true");
        this.strategy = annotation.strategy();
        this.onConflict = annotation.onConflict();
        this.together = label.contains("batch") || label.contains("poll");
    }

    @Override
    public String toString() {
        return this.label;
    }

    abstract static class OfRecords extends GenericListener {

        @OwnTopic
        void on(ConsumerRecord<String, Order> record) {
            process(record.value(), Journal.numberOf(record.headers()));
        }
    }

    abstract static class OfBatches extends GenericListener {

        @OwnTopic(batch = "true")
        void on(
                List<Order> orders,
                @Header(KafkaHeaders.RECEIVED_PARTITION) List<Integer> partitions,
                @Header(KafkaHeaders.OFFSET) List<Long> offsets) {
            process(
                    orders,
                    IntStream.range(0, offsets.size())
                            .mapToObj(i -> this.journal.numberAt(partitions.get(i), offsets.get(i)))
                            .toList(),
                    null);
        }
    }

    @IdempotentListener(onConflict = "warn")
    static class AcknowledgedRecords extends GenericListener {

        @OwnTopic
        void on(ConsumerRecord<String, Order> record, Acknowledgment acknowledgment) {
            process(record.value(), Journal.numberOf(record.headers()), acknowledgment);
        }
    }

    @IdempotentListener(onConflict = "warn")
    static class AcknowledgedBatches extends GenericListener {

        @OwnTopic(batch = "true")
        void on(List<ConsumerRecord<String, Order>> records, Acknowledgment acknowledgment) {
            process(
                    records.stream().map(ConsumerRecord::value).toList(),
                    records.stream()
                            .map(record -> Journal.numberOf(record.headers()))
                            .toList(),
                    acknowledgment);
        }
    }

    @IdempotentListener(onConflict = "fail")
    static class RetriedRecords extends GenericListener {

        @RetryableTopic(
                attempts = "" + ContractApplication.ATTEMPTS,
                backOff = @BackOff(delay = 10),
                autoStartDltHandler = "false")
        @OwnTopic
        void on(ConsumerRecord<String, Order> record) {
            process(record.value(), Journal.numberOf(record.headers()));
        }
    }

    @IdempotentListener(onConflict = "fail")
    static class Records extends OfRecords {}

    @IdempotentListener(onConflict = "fail")
    static class Batches extends OfBatches {}

    @IdempotentListener(onConflict = "fail", claimAtCommit = "true")
    static class RecordsAtCommit extends OfRecords {}

    @IdempotentListener(onConflict = "warn", claimAtCommit = "true", inbox = "true")
    static class AcknowledgedRecordsAtCommit extends AcknowledgedRecords {}

    @IdempotentListener(onConflict = "fail", transactionPerPoll = "true")
    static class Polls extends OfRecords {}

    @IdempotentListener(onConflict = "fail", lock = "#record.topic()")
    static class LockedRecords extends OfRecords {}

    @IdempotentListener(onConflict = "fail", lock = "#record.topic()")
    static class LockedBatches extends OfBatches {}

    @IdempotentListener(onConflict = "fail", lock = "#record.topic()", transactionPerPoll = "true")
    static class LockedPolls extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class RecordsByOffset extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
    static class BatchesByOffset extends OfBatches {}

    @IdempotentListener(strategy = DeduplicationStrategy.OFFSET, transactionPerPoll = "true")
    static class PollsByOffset extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.VERSION, key = "#payload.id", version = "#payload.version")
    static class RecordsByVersion extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.VERSION, key = "#payload.id", version = "#payload.version")
    static class BatchesByVersion extends OfBatches {}

    @IdempotentListener(
            strategy = DeduplicationStrategy.VERSION,
            key = "#payload.id",
            version = "#payload.version",
            transactionPerPoll = "true")
    static class PollsByVersion extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "payment_pkey")
    static class RecordsByConstraint extends OfRecords {}

    @IdempotentListener(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "payment_pkey")
    static class BatchesByConstraint extends OfBatches {}

    @IdempotentListener(
            strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT,
            uniqueConstraint = "payment_pkey",
            transactionPerPoll = "true")
    static class PollsByConstraint extends OfRecords {}
}
