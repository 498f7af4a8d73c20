package dev.idempotency.inbox;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A message in the inbox, with all that was received of it.
 *
 * @param entry what is known of it
 * @param key the record's key, exactly as it was received
 * @param headers the record's headers, likewise, in their order
 * @param payload the record's value, likewise; {@code null} if it had none or if it was left out
 */
public record InboxMessage(InboxEntry entry, byte @Nullable [] key, List<Header> headers, byte @Nullable [] payload) {

    public InboxMessage {
        headers = List.copyOf(headers);
    }
}
