package dev.idempotency.inbox;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A message in the {@link Inbox} with its whole record.
 *
 * @param payload the record's value, as it was received; {@code null} if it had none or if it was left out
 */
public record InboxMessage(InboxEntry entry, byte @Nullable [] key, List<Header> headers, byte @Nullable [] payload) {

    public InboxMessage {
        headers = List.copyOf(headers);
    }
}
