package dev.idempotency.actuate;

import dev.idempotency.inbox.InboxMessage;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A message of the inbox, with all that was received of it.
 *
 * @param message what is known of it
 * @param key the record's key
 * @param headers the record's headers, in their order
 * @param payload the record's value
 */
public record InboxMessageReport(
        InboxEntryReport message,
        @Nullable BytesReport key,
        List<HeaderReport> headers,
        @Nullable BytesReport payload) {

    static InboxMessageReport of(InboxMessage message) {
        return new InboxMessageReport(
                InboxEntryReport.full(message.entry()),
                BytesReport.of(message.key()),
                message.headers().stream().map(HeaderReport::of).toList(),
                BytesReport.of(message.payload()));
    }

    /**
     * A header.
     *
     * @param name its name
     * @param value its value
     */
    public record HeaderReport(String name, @Nullable BytesReport value) {

        static HeaderReport of(Header header) {
            return new HeaderReport(header.key(), BytesReport.of(header.value()));
        }
    }
}
