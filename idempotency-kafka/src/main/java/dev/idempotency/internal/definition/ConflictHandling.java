package dev.idempotency.internal.definition;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.MessageConflictException;
import dev.idempotency.OnConflict;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.failure.WarningInterval;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.support.KafkaHeaders;

/** Handles a listener's messages that have the id of another message, but another payload. Warns once a minute. */
public record ConflictHandling(
        OnConflict mode,
        Function<ConsumerRecord<?, ?>, @Nullable Long> digester,
        IdempotencyEventListener observer,
        WarningInterval warnings) {

    private static final Logger logger = LoggerFactory.getLogger(ConflictHandling.class);

    private static final String REMEDY = "Let the producer give each message another id, or name what tells them apart"
            + " in @IdempotentListener(key = …). Set idempotency.on-conflict to 'off' where the payload of one message changes"
            + " each time it is sent.";

    private static final byte[] CONFLICT =
            MessageConflictException.class.getName().getBytes(StandardCharsets.UTF_8);

    /** The handling of a listener's conflicts. Payloads are digested only where conflicts are looked for. */
    static ConflictHandling of(
            OnConflict mode,
            ListenerCandidate candidate,
            DeserializerInstrumentation receivedBytes,
            IdempotencyEventListener observer) {
        boolean compared =
                mode != OnConflict.OFF && candidate.annotation().strategy() == DeduplicationStrategy.MESSAGE_ID;
        return new ConflictHandling(
                mode,
                compared ? receivedBytes.digestIn(candidate.container()) : record -> null,
                observer,
                new WarningInterval(System::nanoTime, Duration.ofMinutes(1)));
    }

    /**
     * Returns the digest of a record's payload, or {@code null} if it is not to be compared. Copies of a record, as in
     * retry topics, may have been serialized anew; but one that comes back after a conflict is refused again.
     */
    @Nullable
    Long digest(ConsumerRecord<?, ?> record, RecordCoordinates coordinates) {
        boolean copy = coordinates.offset() != record.offset() || !coordinates.equals(KafkaCoordinates.of(record));
        return (copy && !hadConflict(record)) ? null : this.digester.apply(record);
    }

    private static boolean hadConflict(ConsumerRecord<?, ?> record) {
        return Stream.of(KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN)
                .map(record.headers()::lastHeader)
                .anyMatch(header -> header != null && Arrays.equals(header.value(), CONFLICT));
    }

    /** Whether such a message fails instead of being dropped. */
    public boolean isFailure() {
        return this.mode == OnConflict.FAIL;
    }

    public void dropped(Conflict conflict) {
        this.observer.conflict(conflict);
        if (this.warnings.isDue()) {
            logger.warn(
                    "Consumer '{}' dropped {} as a duplicate of {}: it has the same id, '{}', but another payload, so that it"
                            + " may be another message, which was not applied. " + REMEDY
                            + " With idempotency.on-conflict=fail such"
                            + " messages are dead-lettered. The next warning comes in a minute at the earliest.",
                    conflict.id().consumer(),
                    conflict.coordinates(),
                    conflict.original(),
                    conflict.id().value().replaceAll("\\p{Cntrl}", "?"));
        }
    }

    public static MessageConflictException failure(Conflict conflict) {
        return new MessageConflictException(
                ("The message %s of consumer '%s' has the id '%s' of %s, but another payload: it may be another message, and"
                                + " was not applied. %s To have this one processed, send it again with another id, or forget"
                                + " the first one before.")
                        .formatted(
                                conflict.coordinates(),
                                conflict.id().consumer(),
                                conflict.id().value(),
                                conflict.original(),
                                REMEDY));
    }
}
