package dev.idempotency.internal.redrive;

import dev.idempotency.internal.failure.DeadLetterPublisher;
import dev.idempotency.internal.job.RepublishedHeaders;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.KafkaUtils;

/**
 * Reads and writes the headers of dead letters. Every client with write access to the topic may
 * set them: unreadable values are ignored, and long texts are truncated.
 */
final class DeadLetterHeaders {

    /** How often a record has been sent back. */
    static final String REDRIVES = "idempotency-redrives";

    private static final int LONGEST_TEXT = 500;

    private static final Set<String> OF_FAILURES = Set.of(
            REDRIVES,
            DeadLetterPublisher.CONSUMER_HEADER,
            KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER,
            KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER);

    private static final List<String> PREFIXES_OF_FAILURES =
            List.of("kafka_dlt-", "kafka_exception-", "kafka_key-exception-");

    private DeadLetterHeaders() {}

    /** Whether a dead letter belongs to this consumer; without headers that name one, it may belong to any. */
    static boolean belongsTo(String consumer, Set<String> groups, Headers headers) {
        String named = last(headers, DeadLetterPublisher.CONSUMER_HEADER);
        if (named != null) {
            return named.equals(consumer);
        }
        String group = group(headers);
        return group == null || groups.contains(group);
    }

    static @Nullable String group(Headers headers) {
        return last(headers, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP, KafkaHeaders.ORIGINAL_CONSUMER_GROUP);
    }

    /** The class of the exception that tells most: containers wrap what listeners throw. */
    static @Nullable String exception(Headers headers) {
        return last(
                headers,
                KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN,
                KafkaHeaders.EXCEPTION_CAUSE_FQCN,
                KafkaHeaders.DLT_EXCEPTION_FQCN,
                KafkaHeaders.EXCEPTION_FQCN,
                KafkaHeaders.DLT_KEY_EXCEPTION_FQCN,
                KafkaHeaders.KEY_EXCEPTION_FQCN);
    }

    static @Nullable String message(Headers headers) {
        return last(
                headers,
                KafkaHeaders.DLT_EXCEPTION_MESSAGE,
                KafkaHeaders.EXCEPTION_MESSAGE,
                KafkaHeaders.DLT_KEY_EXCEPTION_MESSAGE,
                KafkaHeaders.KEY_EXCEPTION_MESSAGE);
    }

    static int redrives(Headers headers) {
        String text = last(headers, REDRIVES);
        try {
            return (text != null) ? Math.max(0, Integer.parseInt(text)) : 0;
        } catch (NumberFormatException ex) {
            return 0;
        }
    }

    /** The headers with which a dead letter goes back: its own, the way to its original, and how often it went. */
    static List<Header> forRedrive(ConsumerRecord<byte[], byte[]> deadLetter) {
        List<Header> headers = RepublishedHeaders.of(
                deadLetter.headers(), KafkaCoordinates.original(deadLetter), DeadLetterHeaders::isOfFailure);
        String redrives = Integer.toString(redrives(deadLetter.headers()) + 1);
        headers.add(new RecordHeader(REDRIVES, redrives.getBytes(StandardCharsets.US_ASCII)));
        return headers;
    }

    private static boolean isOfFailure(String name) {
        return OF_FAILURES.contains(name) || PREFIXES_OF_FAILURES.stream().anyMatch(name::startsWith);
    }

    /** The last value of the first of these headers that there is. */
    private static @Nullable String last(Headers headers, String... names) {
        for (String name : names) {
            Header header = headers.lastHeader(name);
            if (header != null && header.value() != null && header.value().length > 0) {
                byte[] value = header.value();
                return new String(value, 0, Math.min(value.length, LONGEST_TEXT), StandardCharsets.UTF_8);
            }
        }
        return null;
    }
}
