package dev.idempotency.inbox;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** A record as it came from the broker, before anything was made of it. */
final class ReceivedRecord {

    private final List<Header> headers;
    private byte @Nullable [] key;
    private Payload payload = Payload.NONE;

    ReceivedRecord(List<Header> headers) {
        this.headers = headers;
    }

    /** All its headers: deserializers remove some. */
    List<Header> headers() {
        return this.headers;
    }

    byte @Nullable [] key() {
        return this.key;
    }

    void key(byte[] bytes) {
        this.key = bytes;
    }

    Payload payload() {
        return this.payload;
    }

    void payload(Payload received) {
        this.payload = received;
    }
}
