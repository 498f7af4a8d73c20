package dev.idempotency.internal.kafka;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Records as received, for as long as they are in use. They are known by their headers, the one object that deserializers
 * and listener both see; nothing is added to these that would travel to other topics.
 */
public final class ReceivedRecords {

    /** The digest of no value, which is not an empty one: no length is negative. */
    static final long OF_NO_VALUE = -1;

    private final Map<Key, Received> byHeaders = new ConcurrentHashMap<>();
    private final ReferenceQueue<Headers> collected = new ReferenceQueue<>();

    /** The bytes of a record, and its headers, since deserializers remove some. */
    private static final class Received {

        private final List<Header> headers;
        private byte @Nullable [] key;
        private byte @Nullable [] value;

        Received(List<Header> headers) {
            this.headers = headers;
        }
    }

    /** Compares headers by identity: they change, and two records may have equal ones. */
    private static final class Key extends WeakReference<Headers> {

        private final int hash;

        Key(Headers headers, @Nullable ReferenceQueue<Headers> collected) {
            super(headers, collected);
            this.hash = System.identityHashCode(headers);
        }

        @Override
        public int hashCode() {
            return this.hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other || (other instanceof Key key && get() != null && key.refersTo(get()));
        }
    }

    /** Remembers the key or the value of a record; returns a copy. */
    public byte[] remember(Headers headers, boolean key, ByteBuffer data) {
        forgetCollected();
        byte[] bytes = Utils.toArray(data);
        Received received = this.byHeaders.computeIfAbsent(
                new Key(headers, this.collected), ofRecord -> new Received(copy(headers)));
        if (key) {
            received.key = bytes;
        } else {
            received.value = bytes;
        }
        return bytes;
    }

    private void forgetCollected() {
        for (Reference<?> next = this.collected.poll(); next != null; next = this.collected.poll()) {
            this.byHeaders.remove(next);
        }
    }

    private @Nullable Received lookUp(ConsumerRecord<?, ?> record) {
        return this.byHeaders.get(new Key(record.headers(), null));
    }

    /**
     * The digest of a record's value as it came from the broker, or {@code null} if that is not known: its length and its
     * CRC-32C. Two values that differ have the same one if they are of the same length, and then once in four billion times.
     */
    public @Nullable Long digestOf(ConsumerRecord<?, ?> record) {
        Received found = lookUp(record);
        if (found == null) {
            return wasNotDeserialized(record) ? (Long) OF_NO_VALUE : null;
        }
        if (found.value == null) {
            return OF_NO_VALUE;
        }
        CRC32C crc = new CRC32C();
        crc.update(found.value);
        return ((long) found.value.length << Integer.SIZE) | crc.getValue();
    }

    /** Such a record was not passed to a deserializer. */
    private static boolean wasNotDeserialized(ConsumerRecord<?, ?> record) {
        return record.key() == null && record.value() == null;
    }

    /** A record as it came from the broker, before anything was made of it, or {@code null} if that is not known. */
    public @Nullable ConsumerRecord<byte[], byte[]> find(ConsumerRecord<?, ?> record) {
        Received found = lookUp(record);
        if (found == null && wasNotDeserialized(record)) {
            found = new Received(copy(record.headers()));
        }
        return (found != null) ? copy(record, found.key, found.value, new RecordHeaders(found.headers)) : null;
    }

    static <T extends @Nullable Object> ConsumerRecord<T, T> copy(
            ConsumerRecord<?, ?> record, T key, T value, Headers headers) {
        return new ConsumerRecord<>(
                record.topic(),
                record.partition(),
                record.offset(),
                record.timestamp(),
                record.timestampType(),
                record.serializedKeySize(),
                record.serializedValueSize(),
                key,
                value,
                headers,
                record.leaderEpoch());
    }

    int size() {
        forgetCollected();
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
}
