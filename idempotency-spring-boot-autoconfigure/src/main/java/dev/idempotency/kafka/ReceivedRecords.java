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
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what records were received, for as long as somebody holds on to the records that were made of them.
 *
 * <p>A record is known by its headers, the one object that its deserializers and its listener both see. Nothing is added
 * to them, so that nothing travels on to retry or dead-letter topics.
 */
public final class ReceivedRecords {

    /** What a record was made of; its headers, too, since deserializers remove some. */
    private static final class Received {

        private final List<Header> headers;
        private byte @Nullable [] key;
        private byte @Nullable [] value;

        Received(List<Header> headers) {
            this.headers = headers;
        }
    }

    private final Map<HeadersReference, Received> byHeaders = new ConcurrentHashMap<>();
    private final ReferenceQueue<Headers> forgotten = new ReferenceQueue<>();

    /** Remembers the key or the value of a record; returns it in an array that nobody else has. */
    public byte[] remember(Headers headers, boolean key, ByteBuffer data) {
        byte[] bytes = Utils.toArray(data);
        Received received = received(headers);
        if (key) {
            received.key = bytes;
        } else {
            received.value = bytes;
        }
        return bytes;
    }

    /** The digest of a record's value as it came from the broker, or {@code null} if that is not known. */
    @Nullable
    Long digestOf(ConsumerRecord<?, ?> record) {
        Received found = this.byHeaders.get(new HeadersReference(record.headers(), null));
        if (found == null) {
            return wasNotDeserialized(record) ? (Long) PayloadDigest.OF_NO_VALUE : null;
        }
        return (found.value != null) ? PayloadDigest.of(found.value) : PayloadDigest.OF_NO_VALUE;
    }

    /** Then there was nobody to remember it. */
    private static boolean wasNotDeserialized(ConsumerRecord<?, ?> record) {
        return record.key() == null && record.value() == null;
    }

    /** A record as it came from the broker, before anything was made of it, or {@code null} if that is not known. */
    public @Nullable ConsumerRecord<byte[], byte[]> find(ConsumerRecord<?, ?> record) {
        Received found = this.byHeaders.get(new HeadersReference(record.headers(), null));
        if (found == null && wasNotDeserialized(record)) {
            found = new Received(copy(record.headers()));
        }
        return (found == null)
                ? null
                : new ConsumerRecord<>(
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        record.timestamp(),
                        record.timestampType(),
                        record.serializedKeySize(),
                        record.serializedValueSize(),
                        found.key,
                        found.value,
                        new RecordHeaders(found.headers),
                        record.leaderEpoch());
    }

    private Received received(Headers headers) {
        for (Reference<?> gone = this.forgotten.poll(); gone != null; gone = this.forgotten.poll()) {
            this.byHeaders.remove(gone);
        }
        return this.byHeaders.computeIfAbsent(
                new HeadersReference(headers, this.forgotten), reference -> new Received(copy(headers)));
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
