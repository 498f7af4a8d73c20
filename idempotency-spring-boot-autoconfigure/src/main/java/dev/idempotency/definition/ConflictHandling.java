package dev.idempotency.definition;

import dev.idempotency.MessageConflictException;
import dev.idempotency.OnConflict;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.PayloadDigester;
import dev.idempotency.observe.Conflict;
import dev.idempotency.observe.ConsumerObserver;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;

/** What is done about a listener's messages that have the id of another one, and another payload. */
public final class ConflictHandling {

    private static final List<String> REASONS =
            List.of(KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN);

    private static final byte[] CONFLICT =
            MessageConflictException.class.getName().getBytes(StandardCharsets.UTF_8);

    private final OnConflict mode;
    private final PayloadDigester digester;
    private final ConflictWarnings warnings;
    private final ConsumerObserver observer;

    ConflictHandling(OnConflict mode, PayloadDigester digester, ConflictWarnings warnings, ConsumerObserver observer) {
        this.mode = mode;
        this.digester = digester;
        this.warnings = warnings;
        this.observer = observer;
    }

    /**
     * What the payload of a record is known by, or {@code null} if it is not to be compared. A copy of a record, as in retry
     * topics, may have been serialized anew: what stood in the original is not known. One that comes back after it was
     * refused for its id is refused again.
     */
    @Nullable
    Long digest(ConsumerRecord<?, ?> record, RecordCoordinates coordinates) {
        boolean copy = coordinates.offset() != record.offset() || !coordinates.equals(RecordCoordinates.of(record));
        return (copy && !wasRefused(record)) ? null : this.digester.digest(record);
    }

    private static boolean wasRefused(ConsumerRecord<?, ?> record) {
        for (String reason : REASONS) {
            Header header = record.headers().lastHeader(reason);
            if (header != null && Arrays.equals(header.value(), CONFLICT)) {
                return true;
            }
        }
        return false;
    }

    /** Whether such a message is not dropped, but fails. */
    public boolean isFailure() {
        return this.mode == OnConflict.FAIL;
    }

    /** Tells that a message was dropped. */
    public void dropped(Conflict conflict) {
        this.observer.conflict(conflict);
        this.warnings.dropped(conflict);
    }

    /** Tells that a message fails, and with what. */
    public MessageConflictException failed(Conflict conflict) {
        this.observer.conflict(conflict);
        return failure(conflict);
    }

    /** What a message fails with. */
    public static MessageConflictException failure(Conflict conflict) {
        return new MessageConflictException(
                ("The message %s of consumer '%s' has the id '%s' of %s, but another payload: it may be another message, and"
                                + " was not applied. Let its producer give each message an id of its own, or name what tells"
                                + " them apart in @IdempotentListener(key = …). To have this one processed, send it again"
                                + " with another id, or forget the first one before. Set idempotency.conflicts to 'off' where"
                                + " the payload of one message changes each time it is sent.")
                        .formatted(
                                conflict.coordinates(),
                                conflict.id().consumer(),
                                conflict.id().value(),
                                conflict.original()));
    }
}
