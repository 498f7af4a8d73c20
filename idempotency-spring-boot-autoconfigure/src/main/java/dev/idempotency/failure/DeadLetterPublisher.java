package dev.idempotency.failure;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.core.KafkaOperations;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;

/**
 * Publishes a message that failed for good to its topic's dead-letter topic, to the same partition where there is one,
 * with all its headers, its id among them, and those that tell of the failure.
 */
final class DeadLetterPublisher extends DeadLetterPublishingRecoverer {

    private static final Logger logger = LoggerFactory.getLogger(DeadLetterPublisher.class);

    private static final Duration SEND_TIMEOUT = Duration.ofSeconds(25);

    private final String consumer;
    private final String suffix;
    private final DeadLetterProducer producer;
    private final ConsumerObserver observer;

    DeadLetterPublisher(String consumer, String suffix, DeadLetterProducer producer, ConsumerObserver observer) {
        super(
                producer.template(),
                (record, exception) -> new TopicPartition(record.topic() + suffix, record.partition()));
        this.consumer = consumer;
        this.suffix = suffix;
        this.producer = producer;
        this.observer = observer;
    }

    @Override
    public void accept(ConsumerRecord<?, ?> record, @Nullable Consumer<?, ?> kafkaConsumer, Exception exception) {
        RecordCoordinates coordinates = RecordCoordinates.of(record);
        String topic = record.topic() + this.suffix;
        try {
            super.accept(record, kafkaConsumer, exception);
        } catch (RuntimeException ex) {
            throw new DeadLetterFailedException(
                    ("Consumer '%s' could not publish %s to %s. It is not skipped: its partition stands still until it"
                                    + " succeeds or can be published. See that the topic exists, that the application"
                                    + " may write to it, that it takes messages of this size, and that the producer's"
                                    + " serializers fit the messages that are consumed"
                                    + " (spring.kafka.producer.value-serializer).")
                            .formatted(this.consumer, coordinates, topic),
                    ex);
        }
        logger.warn(
                "Consumer '{}' gave up {} and published it to {}, with the stack trace in its headers: {}",
                this.consumer,
                coordinates,
                topic,
                cause(exception).toString());
        this.observer.deadLettered(coordinates);
    }

    private static Throwable cause(Exception exception) {
        return (exception.getCause() != null) ? exception.getCause() : exception;
    }

    @Override
    protected ProducerRecord<Object, Object> createProducerRecord(
            ConsumerRecord<?, ?> record,
            TopicPartition destination,
            Headers headers,
            byte @Nullable [] key,
            byte @Nullable [] value) {
        String topic = destination.topic();
        Integer partition = (destination.partition() < 0) ? null : destination.partition();
        return new ProducerRecord<>(
                topic,
                partition,
                (key != null) ? key : this.producer.key(topic, headers, record.key()),
                (value != null) ? value : this.producer.value(topic, headers, record.value()),
                headers);
    }

    @Override
    protected Duration determineSendTimeout(KafkaOperations<?, ?> template) {
        return SEND_TIMEOUT;
    }
}
