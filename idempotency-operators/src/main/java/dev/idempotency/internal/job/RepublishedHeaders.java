package dev.idempotency.internal.job;

import dev.idempotency.RecordCoordinates;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.IntegerSerializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.support.KafkaHeaders;

/**
 * The headers of a record that is sent to its topic again. Headers of retry topics are left out, so that its
 * attempts are counted anew; others lead back to the original record, so that a key made of its coordinates stays the same.
 *
 * <p>When the original was written is not known any more, and said so: retry topics would take the copy's time for it.
 */
public final class RepublishedHeaders {

    private static final String RETRY_TOPIC_PREFIX = "retry_topic-";
    private static final Set<String> LEADING_BACK =
            Set.of(KafkaHeaders.ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_TOPIC);

    private RepublishedHeaders() {}

    /** The headers for a copy of a record that had these, and stood there, without some that are not to be seen again. */
    public static List<Header> of(Iterable<Header> headers, RecordCoordinates original, Predicate<String> leftOut) {
        List<Header> kept = new ArrayList<>();
        for (Header header : headers) {
            if (!header.key().startsWith(RETRY_TOPIC_PREFIX) && !leftOut.test(header.key())) {
                kept.add(header);
            }
        }
        if (kept.stream().noneMatch(header -> LEADING_BACK.contains(header.key()))) {
            kept.add(header(KafkaHeaders.ORIGINAL_TOPIC, new StringSerializer(), original.topic()));
            kept.add(header(KafkaHeaders.ORIGINAL_PARTITION, new IntegerSerializer(), original.partition()));
            kept.add(header(KafkaHeaders.ORIGINAL_OFFSET, new LongSerializer(), original.offset()));
            kept.add(header(KafkaHeaders.ORIGINAL_TIMESTAMP, new LongSerializer(), ConsumerRecord.NO_TIMESTAMP));
        }
        return kept;
    }

    private static <T> Header header(String name, Serializer<T> serializer, T value) {
        return new RecordHeader(name, serializer.serialize("", value));
    }
}
