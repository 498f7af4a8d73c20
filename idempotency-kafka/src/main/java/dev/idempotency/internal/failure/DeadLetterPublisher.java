package dev.idempotency.internal.failure;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.kafka.ProducerSerializers;
import dev.idempotency.internal.kafka.RawRecordProducer;
import dev.idempotency.internal.kafka.ReceivedRecords;
import dev.idempotency.internal.kafka.TopicCoordinates;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
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
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.util.StringUtils;

/**
 * Publishes a message that has used up its attempts to its topic's dead-letter topic, to the same partition if there is
 * one: as it was received, if that is known, with Spring Kafka's headers about the failure.
 */
public final class DeadLetterPublisher extends DeadLetterPublishingRecoverer {

    /** Names the consumer: several of them share a dead-letter topic. */
    public static final String CONSUMER_HEADER = "idempotency-consumer";

    private static final Logger logger = LoggerFactory.getLogger(DeadLetterPublisher.class);

    /** Headers that are added to a record after it was received: what could not be read, and from which topic it is. */
    private static final List<String> ADDED_HEADERS = List.of(
            KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER,
            KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER,
            TopicCoordinates.HEADER);

    /** Headers of any length: a failure's message may quote the whole payload. */
    private static final List<String> LENGTHY_HEADERS = List.of(
            KafkaHeaders.DLT_EXCEPTION_MESSAGE,
            KafkaHeaders.DLT_EXCEPTION_STACKTRACE,
            KafkaHeaders.DLT_KEY_EXCEPTION_MESSAGE,
            KafkaHeaders.DLT_KEY_EXCEPTION_STACKTRACE);

    private static final String CONVERSION_REMEDY =
            ". For JSON, set spring.kafka.consumer.value-deserializer to JacksonJsonDeserializer, or define a"
                    + " RecordMessageConverter bean such as StringJacksonJsonMessageConverter; the type must not be a type variable.";

    private static final String HIDDEN =
            "%s, cause: %s. Its text may quote the message, and is in the headers of the dead letter, if there is one.";

    /** Producers and brokers take a megabyte by default: beside a large record there is little room for a stack trace. */
    private static final int LARGE_RECORD = 500_000;

    private static final int LENGTHY = 50_000;
    private static final int BRIEF = 500;

    private final String consumer;
    private final String suffix;
    private final ProducerSerializers serializers;
    private final ReceivedRecords received;
    private final IdempotencyEventListener observer;

    DeadLetterPublisher(
            String consumer,
            String suffix,
            RawRecordProducer producer,
            ProducerSerializers serializers,
            ReceivedRecords received,
            IdempotencyEventListener observer) {
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
        // With a negative number, the producer chooses.
        return new TopicPartition(topic, exists ? partition : -1);
    }

    @Override
    public void accept(ConsumerRecord<?, ?> record, @Nullable Consumer<?, ?> kafkaConsumer, Exception thrown) {
        Exception exception = BatchFailure.withoutName(thrown);
        RecordCoordinates coordinates = KafkaCoordinates.of(record);
        String topic = record.topic() + this.suffix;
        ConsumerRecord<?, ?> found = this.received.find(record);
        try {
            // Without the consumer, whose brokers may be others than those that the partition is looked for at.
            super.accept((found != null) ? withHeadersOf(record, found) : record, null, exception);
        } catch (RuntimeException ex) {
            throw new ConsumerWaitingException(
                    Awaited.DEAD_LETTERS,
                    ("Consumer '%s' could not publish %s to %s. It is not skipped: its partition waits until it"
                                    + " succeeds or can be published. See that the topic exists, that the application"
                                    + " may write to it, that it takes messages of this size, and that the producer's"
                                    + " serializers fit them.")
                            .formatted(this.consumer, coordinates, topic),
                    ex);
        }
        logger.warn(
                "Consumer '{}' published {} to {} after its last attempt: {}",
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

    private static ConsumerRecord<?, ?> withHeadersOf(ConsumerRecord<?, ?> record, ConsumerRecord<?, ?> received) {
        for (String name : ADDED_HEADERS) {
            Header header = record.headers().lastHeader(name);
            if (header != null) {
                received.headers().remove(name).add(header);
            }
        }
        return received;
    }

    /** Describes a failure for the log, which must contain no payload: Spring's messaging exceptions quote it. */
    static String describe(Exception exception) {
        Causes causes = Causes.of(exception);
        if (causes.contains(MessageConversionException.class)) {
            // The innermost one knows what it could not convert.
            String type = causes.all(MessageConversionException.class)
                    .map(MessageConversionException::getFailedMessage)
                    .filter(Objects::nonNull)
                    .map(message ->
                            " of type " + message.getPayload().getClass().getName())
                    .findFirst()
                    .orElse("");
            return "%s. The listener's parameter cannot be made of a value%s%s"
                    .formatted(MessageConversionException.class.getName(), type, CONVERSION_REMEDY);
        }
        MessagingException quoting = causes.find(MessagingException.class);
        String text = (quoting != null)
                ? quoting.getClass().getName()
                : StringUtils.truncate(cause(exception).toString(), BRIEF);
        return quotesPayload(exception)
                ? HIDDEN.formatted(text, causes.deepest().getClass().getName())
                : text;
    }

    static boolean quotesPayload(Exception exception) {
        Causes causes = Causes.of(exception);
        return causes.contains(MessagingException.class)
                || causes.contains(ConversionException.class)
                || causes.contains(DeserializationException.class);
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
        headers.remove(CONSUMER_HEADER).add(CONSUMER_HEADER, this.consumer.getBytes(StandardCharsets.UTF_8));
        Integer partition = (destination.partition() < 0) ? null : destination.partition();
        byte[] keyBytes = (key != null) ? key : this.serializers.serialize(true, topic, headers, record.key());
        byte[] valueBytes = (value != null) ? value : this.serializers.serialize(false, topic, headers, record.value());
        int size = size(keyBytes) + size(valueBytes);
        for (Header header : headers) {
            size += LENGTHY_HEADERS.contains(header.key()) ? 0 : size(header.value());
        }
        abridge(headers, (size > LARGE_RECORD) ? BRIEF : LENGTHY);
        return new ProducerRecord<>(topic, partition, keyBytes, valueBytes, headers);
    }

    /** Spring Kafka keeps the reason of a refusal to itself that comes before the template has returned. */
    @Override
    protected void publish(
            ProducerRecord<Object, Object> out, KafkaOperations<Object, Object> template, ConsumerRecord<?, ?> in) {
        verifySendResult(template, out, template.send(out), in);
    }

    @Override
    protected Duration determineSendTimeout(KafkaOperations<?, ?> template) {
        return RawRecordProducer.SEND_TIMEOUT;
    }
}
