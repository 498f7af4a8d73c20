package dev.idempotency.actuate;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxMessage;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SanitizableData;

/** A message of the inbox as received: sanitized unless values are shown, but for names and sizes. */
record InboxMessageReport(
        Entry message,
        @Nullable Bytes key,
        List<HeaderReport> headers,
        @Nullable Bytes payload) {

    static InboxMessageReport of(InboxMessage message, boolean showValues) {
        return new InboxMessageReport(
                Entry.of(message.entry(), message.entry().lastError(), showValues),
                Bytes.of(message.key(), showValues),
                HeaderReport.of(message.headers(), showValues),
                Bytes.of(message.payload(), showValues));
    }

    /** An {@link InboxEntry} as a flat JSON object, in a list with the first line of its last error. */
    record Entry(
            String consumer,
            String messageId,
            String status,
            @Nullable String type,
            RecordCoordinates record,
            int attempts,
            int replays,
            @Nullable String lastError,
            Instant receivedAt,
            @Nullable Instant processedAt,
            Instant updatedAt,
            @Nullable Integer payloadSize,
            @Nullable String payloadOmitted) {

        /** A message in a list. */
        static Entry brief(InboxEntry entry, boolean showValues) {
            String error = entry.lastError();
            return of(entry, (error != null) ? error.lines().findFirst().orElse("") : null, showValues);
        }

        private static Entry of(InboxEntry entry, @Nullable String error, boolean showValues) {
            return new Entry(
                    entry.id().consumer(),
                    entry.id().value(),
                    entry.status().toString(),
                    entry.type(),
                    entry.record(),
                    entry.attempts(),
                    entry.replays(),
                    (error == null || showValues) ? error : SanitizableData.SANITIZED_VALUE,
                    entry.receivedAt(),
                    entry.processedAt(),
                    entry.updatedAt(),
                    entry.payloadSize(),
                    entry.payloadOmitted());
        }
    }

    /** A header. */
    record HeaderReport(String name, @Nullable Bytes value) {

        static List<HeaderReport> of(List<Header> headers, boolean showValues) {
            return headers.stream()
                    .map(header -> new HeaderReport(header.key(), Bytes.of(header.value(), showValues)))
                    .toList();
        }
    }

    /** Bytes that were received: as text where they are text in UTF-8, otherwise in Base64. */
    record Bytes(@Nullable String text, @Nullable String base64) {

        private static final Bytes SANITIZED = new Bytes(SanitizableData.SANITIZED_VALUE, null);

        static @Nullable Bytes of(byte @Nullable [] bytes, boolean showValues) {
            if (bytes == null || !showValues) {
                return (bytes != null) ? SANITIZED : null;
            }
            try {
                CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
                return new Bytes(text.toString(), null);
            } catch (CharacterCodingException ex) {
                return new Bytes(null, Base64.getEncoder().encodeToString(bytes));
            }
        }
    }
}
