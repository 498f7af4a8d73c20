package dev.idempotency.redrive;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter with its whole record.
 *
 * @param letter the dead letter without these
 * @param key the record's key
 * @param headers the record's headers, in their order
 * @param payload the record's value
 */
public record DeadLetterMessage(
        DeadLetter letter, byte @Nullable [] key, List<Header> headers, byte @Nullable [] payload) {

    public DeadLetterMessage {
        headers = List.copyOf(headers);
    }
}
