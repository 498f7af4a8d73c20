package dev.idempotency.failure;

import dev.idempotency.DeadLetterFailedException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import dev.idempotency.kafka.ProducerSerializers;
import dev.idempotency.kafka.RawRecordProducer;
import dev.idempotency.kafka.ReceivedRecords;
import dev.idempotency.observe.ConsumerObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.core.KafkaOperations;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;

/**
 * Publishes a message that has used up its attempts to its topic's dead-letter topic, to the same partition if there is
 * one: as it was received, if that is known, with Spring Kafka's headers about the failure.
 */
final class DeadLetterPublisher extends DeadLetterPublishingRecoverer {

    private static final Logger logger = LoggerFactory.getLogger(DeadLetterPublisher.class);

    private static final String SERIALIZERS =
            "; and, as the received bytes are unknown, that the producer's serializers fit the messages that are"
                    + " consumed (spring.kafka.producer.value-serializer)";

    private static final Set<String> OF_DESERIALIZERS =
            Set.of(KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER, KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER);

    /** Headers of any length: a failure's message may quote the whole payload. */
    private static final List<String> LENGTHY_HEADERS = List.of(
            KafkaHeaders.DLT_EXCEPTION_MESSAGE,
            KafkaHeaders.DLT_EXCEPTION_STACKTRACE,
            KafkaHeaders.DLT_KEY_EXCEPTION_MESSAGE,
            KafkaHeaders.DLT_KEY_EXCEPTION_STACKTRACE);

    private static final String CONVERSION_REMEDY =
            ". For JSON, set spring.kafka.consumer.value-deserializer to JacksonJsonDeserializer, or define a"
                    + " RecordMessageConverter bean such as StringJacksonJsonMessageConverter.";

    private static final int ANY_PARTITION = -1;

    /** Producers and brokers take a megabyte by default: beside a large payload there is little room for a stack trace. */
    private static final int LARGE_PAYLOAD = 500_000;

    private static final int LENGTHY = 50_000;
    private static final int BRIEF = 500;

    private final String consumer;
    private final String suffix;
    private final ProducerSerializers serializers;
    private final ReceivedRecords received;
    private final ConsumerObserver observer;

    DeadLetterPublisher(
            String consumer,
            String suffix,
            RawRecordProducer producer,
            ProducerSerializers serializers,
            ReceivedRecords received,
            ConsumerObserver observer) {
        super(
                producer.template(),
                (record, exception) -> destination(producer, record.topic() + suffix, record.partition()));
        this.consumer = consumer;
        this.suffix = suffix;
        this.serializers = serializers;
        this.received = received;
        this.observer = observer;
    }

    private static TopicPartition destination(RawRecordProducer producer, String topic, int partition) {
        boolean exists =
                producer.template().partitionsFor(topic).stream().anyMatch(info -> info.partition() == partition);
        return new TopicPartition(topic, exists ? partition : ANY_PARTITION);
    }

    @Override
    public void accept(ConsumerRecord<?, ?> record, @Nullable Consumer<?, ?> kafkaConsumer, Exception thrown) {
        Exception exception = BatchFailure.withoutName(thrown);
        RecordCoordinates coordinates = RecordCoordinates.of(record);
        String topic = record.topic() + this.suffix;
        ConsumerRecord<?, ?> found = this.received.find(record);
        try {
            // Without the consumer, whose brokers may be others than those that the partition is looked for at.
            super.accept((found != null) ? withHeadersOf(record, found) : record, null, exception);
        } catch (RuntimeException ex) {
            throw new DeadLetterFailedException(
                    ("Consumer '%s' could not publish %s to %s. It is not skipped: its partition waits until it"
                                    + " succeeds or can be published. See that the topic exists, that the application"
                                    + " may write to it, and that it takes messages of this size%s.")
                            .formatted(this.consumer, coordinates, topic, (found != null) ? "" : SERIALIZERS),
                    ex);
        }
        logger.warn(
                "Consumer '{}' gave up {} and published it to {}: {}",
                this.consumer,
                coordinates,
                topic,
                describe(exception),
                quotesPayload(exception) ? null : cause(exception));
        this.observer.deadLettered(coordinates);
    }

    private static int size(byte @Nullable [] bytes) {
        return (bytes != null) ? bytes.length : 0;
    }

    private static void abridge(Headers headers, int longest) {
        for (String name : LENGTHY_HEADERS) {
            Header header = headers.lastHeader(name);
            if (header != null && size(header.value()) > longest) {
                String text = new String(header.value(), 0, longest, StandardCharsets.UTF_8);
                headers.remove(name).add(name, (text + "…").getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    /** Adds the headers that say what could not be read, and from which topic the record is. */
    private static ConsumerRecord<?, ?> withHeadersOf(ConsumerRecord<?, ?> record, ConsumerRecord<?, ?> received) {
        List<Header> before = List.of(received.headers().toArray());
        for (Header header : record.headers()) {
            if (OF_DESERIALIZERS.contains(header.key()) && !before.contains(header)) {
                received.headers().add(header);
            }
        }
        Header coordinates = TopicCoordinates.headerOf(record);
        if (coordinates != null) {
            received.headers().remove(TopicCoordinates.HEADER).add(coordinates);
        }
        return received;
    }

    /** Describes a failure for the log, which must contain no payload. */
    static String describe(Exception exception) {
        String quoting = null;
        for (Throwable next : Causes.of(exception)) {
            if (next instanceof MessageConversionException conversion && conversion.getFailedMessage() != null) {
                return next.getClass().getName() + ". The listener's parameter cannot be made of a value of type "
                        + conversion.getFailedMessage().getPayload().getClass().getName() + CONVERSION_REMEDY;
            }
            if (quoting == null && next instanceof MessagingException) {
                quoting = next.getClass().getName();
            }
        }
        if (quoting != null) {
            return quoting;
        }
        String text = cause(exception).toString();
        return (text.length() > BRIEF) ? text.substring(0, BRIEF) + "…" : text;
    }

    /** Whether messages of exceptions contain the payload, as Spring's messaging exceptions do. */
    private static boolean quotesPayload(Exception exception) {
        for (Throwable next : Causes.of(exception)) {
            if (next instanceof MessagingException || next instanceof DeserializationException) {
                return true;
            }
        }
        return false;
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
        DeadLetterOwner.tellBy(headers, this.consumer);
        Integer partition = (destination.partition() < 0) ? null : destination.partition();
        byte[] keyBytes = (key != null) ? key : this.serializers.serialize(true, topic, headers, record.key());
        byte[] valueBytes = (value != null) ? value : this.serializers.serialize(false, topic, headers, record.value());
        abridge(headers, (size(keyBytes) + size(valueBytes) > LARGE_PAYLOAD) ? BRIEF : LENGTHY);
        return new ProducerRecord<>(topic, partition, keyBytes, valueBytes, headers);
    }

    @Override
    protected Duration determineSendTimeout(KafkaOperations<?, ?> template) {
        return RawRecordProducer.SEND_TIMEOUT;
    }
}
