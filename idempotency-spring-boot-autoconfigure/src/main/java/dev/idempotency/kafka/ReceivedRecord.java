package dev.idempotency.kafka;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** A record as it came from the broker, before anything was made of it. */
public final class ReceivedRecord {

    private final List<Header> headers;
    private byte @Nullable [] key;
    private byte @Nullable [] value;

    ReceivedRecord(List<Header> headers) {
        this.headers = headers;
    }

    /** All its headers: deserializers remove some. */
    public List<Header> headers() {
        return this.headers;
    }

    /** Its key, or {@code null} if it had none. */
    public byte @Nullable [] key() {
        return this.key;
    }

    void key(byte[] bytes) {
        this.key = bytes;
    }

    /** Its value, or {@code null} if it had none. */
    public byte @Nullable [] value() {
        return this.value;
    }

    void value(byte[] bytes) {
        this.value = bytes;
    }
}
