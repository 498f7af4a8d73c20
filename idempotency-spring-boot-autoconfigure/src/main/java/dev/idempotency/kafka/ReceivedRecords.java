package dev.idempotency.kafka;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what records were received, for as long as somebody holds on to the records that were made of them.
 *
 * <p>A record is known by its headers, the one object that its deserializers and its listener both see. Nothing is added
 * to them, so that nothing travels on to retry or dead-letter topics.
 */
public final class ReceivedRecords {

    private final Map<HeadersReference, ReceivedRecord> byHeaders = new ConcurrentHashMap<>();
    private final ReferenceQueue<Headers> forgotten = new ReferenceQueue<>();

    public byte[] rememberKey(Headers headers, ByteBuffer key) {
        byte[] bytes = copy(key);
        record(headers).key(bytes);
        return bytes;
    }

    public byte[] rememberValue(Headers headers, ByteBuffer value) {
        byte[] bytes = copy(value);
        record(headers).value(bytes);
        return bytes;
    }

    /** What was received for a record, or {@code null} if that is not known. */
    public @Nullable ReceivedRecord find(ConsumerRecord<?, ?> record) {
        ReceivedRecord found = this.byHeaders.get(new HeadersReference(record.headers(), null));
        if (found == null && record.key() == null && record.value() == null) {
            // Nothing was deserialized, so there was nobody to remember it.
            return new ReceivedRecord(copy(record.headers()));
        }
        return found;
    }

    private ReceivedRecord record(Headers headers) {
        for (Reference<?> gone = this.forgotten.poll(); gone != null; gone = this.forgotten.poll()) {
            this.byHeaders.remove(gone);
        }
        return this.byHeaders.computeIfAbsent(
                new HeadersReference(headers, this.forgotten), reference -> new ReceivedRecord(copy(headers)));
    }

    int size() {
        return this.byHeaders.size();
    }

    /** Listeners may write into the arrays that they find in headers. */
    private static List<Header> copy(Headers headers) {
        List<Header> copies = new ArrayList<>();
        for (Header header : headers) {
            byte[] value = header.value();
            copies.add(new RecordHeader(header.key(), (value != null) ? value.clone() : null));
        }
        return copies;
    }

    private static byte[] copy(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    /** The same only for the same object, whatever is in it: headers change. */
    private static final class HeadersReference extends WeakReference<Headers> {

        private final int hash;

        HeadersReference(Headers headers, @Nullable ReferenceQueue<Headers> queue) {
            super(headers, queue);
            this.hash = System.identityHashCode(headers);
        }

        @Override
        public int hashCode() {
            return this.hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            if (this == other) {
                return true;
            }
            Headers headers = get();
            return headers != null && other instanceof HeadersReference reference && reference.get() == headers;
        }
    }
}
