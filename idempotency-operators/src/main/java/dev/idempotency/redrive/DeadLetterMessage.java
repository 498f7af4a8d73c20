package dev.idempotency.redrive;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** A {@link DeadLetter} with its whole record. */
public record DeadLetterMessage(
        DeadLetter letter, byte @Nullable [] key, List<Header> headers, byte @Nullable [] payload) {

    public DeadLetterMessage {
        headers = List.copyOf(headers);
    }
}
