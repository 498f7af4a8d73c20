package dev.idempotency.internal.producer;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.internal.kafka.ProducerSerializers;
import dev.idempotency.internal.key.HeaderKeyResolver;
import dev.idempotency.key.MessageIdHeader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.support.KafkaHeaders;

/**
 * Gives an id to records that have none in a configured or default header, and never a second one. Copies of failed
 * messages in retry and dead-letter topics stay as they were; what a listener sends is no such copy, even with those
 * headers. The interceptor that the application gave the template comes first: its ids count, and its failures.
 */
final class MessageIdInterceptor<K, V> implements ProducerInterceptor<K, V> {

    private static final List<String> HEADERS_OF_COPIES =
            List.of(KafkaHeaders.ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_TOPIC);

    /** The end of the names that Spring Kafka gives to headers with the types of JSON, such as {@code __TypeId__}. */
    private static final String TYPE_HEADERS = "TypeId__";

    private static final long RANDOM_BITS = 0x0FFFL;
    private static final long VERSION_7 = 0x7000L;

    private static final HeaderKeyResolver STAMPED = new HeaderKeyResolver(List.of(MessageIdHeader.HEADER));

    private final HeaderKeyResolver ids;
    private final Function<String, ? extends ProducerFactory<?, ?>> factories;
    private final List<ProducerInterceptor<K, V>> applications;
    private final Map<ProducerFactory<?, ?>, ProducerSerializers> serializers = new ConcurrentHashMap<>();

    MessageIdInterceptor(
            List<String> headers,
            Function<String, ? extends ProducerFactory<?, ?>> factories,
            @Nullable ProducerInterceptor<K, V> applications) {
        Set<String> all = new LinkedHashSet<>(headers);
        all.addAll(HeaderKeyResolver.DEFAULT_HEADERS);
        this.ids = new HeaderKeyResolver(List.copyOf(all));
        this.factories = factories;
        this.applications = (applications != null) ? List.of(applications) : List.of();
    }

    /**
     * Stamps a record that is about to be sent, and the one that an interceptor has made it of: if that one is sent
     * again, it is the same message. Returns a copy if headers can no longer be changed.
     */
    @Override
    public ProducerRecord<K, V> onSend(ProducerRecord<K, V> given) {
        ProducerRecord<K, V> sent = given;
        for (ProducerInterceptor<K, V> each : this.applications) {
            sent = each.onSend(sent);
        }
        String id = hasId(sent) ? null : idFor(given, isCopy(sent));
        if (id == null) {
            return sent;
        }
        if (given != sent && !hasId(given)) {
            MessageIdHeader.stamp(given, id);
        }
        return MessageIdHeader.stamp(sent, id);
    }

    private boolean hasId(ProducerRecord<?, ?> record) {
        return this.ids.findIn(record.headers()) != null;
    }

    private static boolean isCopy(ProducerRecord<?, ?> record) {
        return HEADERS_OF_COPIES.stream().anyMatch(header -> record.headers().lastHeader(header) != null);
    }

    private @Nullable String idFor(ProducerRecord<?, ?> record, boolean copy) {
        String before = STAMPED.findIn(record.headers());
        if (before != null) {
            return before;
        }
        String derived = IdempotencyContextHolder.nextRecordId(record.topic(), () -> contentOf(record));
        return (derived != null || copy)
                ? derived
                : mintAt(System.currentTimeMillis()).toString();
    }

    /** Key and value as sent, and their types: objects of two types may have the same bytes. */
    private List<String> contentOf(ProducerRecord<?, ?> record) {
        ProducerSerializers serializers = this.serializers.computeIfAbsent(
                this.factories.apply(record.topic()), factory -> new ProducerSerializers(() -> factory));
        // A copy, as serializers add headers.
        Headers headers = new RecordHeaders(record.headers());
        List<String> content = new ArrayList<>();
        content.add(textOf(serializers.serialize(true, record.topic(), headers, record.key())));
        content.add(textOf(serializers.serialize(false, record.topic(), headers, record.value())));
        for (Header header : headers) {
            if (header.key().endsWith(TYPE_HEADERS)) {
                content.add(header.key() + textOf(header.value()));
            }
        }
        return content;
    }

    /** Mints a UUID of version 7: the time in milliseconds, then 74 random bits. Successive ids are neighbours in an index. */
    static UUID mintAt(long millis) {
        UUID random = UUID.randomUUID();
        long time = (millis << 16) | VERSION_7 | (random.getMostSignificantBits() & RANDOM_BITS);
        return new UUID(time, random.getLeastSignificantBits());
    }

    /** One character for each byte. */
    private static String textOf(byte @Nullable [] bytes) {
        return (bytes != null) ? "=" + new String(bytes, StandardCharsets.ISO_8859_1) : "";
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, @Nullable Exception exception) {
        this.applications.forEach(each -> each.onAcknowledgement(metadata, exception));
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, @Nullable Exception exception, Headers headers) {
        this.applications.forEach(each -> each.onAcknowledgement(metadata, exception, headers));
    }

    @Override
    public void configure(Map<String, ?> configs) {
        this.applications.forEach(each -> each.configure(configs));
    }

    @Override
    public void close() {
        this.serializers.values().forEach(ProducerSerializers::close);
        this.applications.forEach(each -> each.close());
    }
}
