package dev.idempotency.internal.kafka;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
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
 * Records of the current poll of each consumer thread, as received. They are known by their headers, the one object
 * that deserializers and listener both see; nothing is added to these that would travel to other topics.
 */
public final class ReceivedRecords {

    /** The bytes of a record, and its headers, since deserializers remove some. */
    private static final class Received {

        private final List<Header> headers;
        private byte @Nullable [] key;
        private byte @Nullable [] value;

        Received(List<Header> headers) {
            this.headers = headers;
        }
    }

    /** The digest of no value, which is not an empty one: no length is negative. */
    static final long NO_VALUE = -1;

    private final Map<Thread, Map<Headers, Received>> polls = new ConcurrentHashMap<>();

    /** Forgets the records of this thread's last poll. Only records received after this are remembered. */
    public void beginPoll() {
        // Headers change, and two records may have equal ones.
        this.polls.put(Thread.currentThread(), new IdentityHashMap<>());
    }

    /** Forgets the records of this thread, whose consumer is closed. */
    void close() {
        this.polls.remove(Thread.currentThread());
    }

    /** Remembers the key or the value of a record; returns a copy. */
    public byte[] remember(Headers headers, boolean key, ByteBuffer data) {
        byte[] bytes = Utils.toArray(data);
        Map<Headers, Received> poll = this.polls.get(Thread.currentThread());
        if (poll != null) {
            Received received = poll.computeIfAbsent(headers, ofRecord -> new Received(copy(ofRecord)));
            if (key) {
                received.key = bytes;
            } else {
                received.value = bytes;
            }
        }
        return bytes;
    }

    private @Nullable Received lookUp(ConsumerRecord<?, ?> record) {
        return this.polls.getOrDefault(Thread.currentThread(), Map.of()).get(record.headers());
    }

    /** The digest of a record's value as it came from the broker, or {@code null} if that is not known. */
    @Nullable
    Long digestOf(ConsumerRecord<?, ?> record) {
        Received found = lookUp(record);
        if (found == null) {
            return wasNotDeserialized(record) ? (Long) NO_VALUE : null;
        }
        return (found.value != null) ? digest(ByteBuffer.wrap(found.value)) : NO_VALUE;
    }

    /**
     * Digests a payload: its length and the CRC-32C of its bytes. Two payloads that differ have the same digest if they are of
     * the same length, and then once in four billion times.
     */
    static long digest(ByteBuffer payload) {
        CRC32C crc = new CRC32C();
        crc.update(payload.duplicate());
        return ((long) payload.remaining() << Integer.SIZE) | crc.getValue();
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
        return this.polls.values().stream().mapToInt(Map::size).sum();
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
