package dev.idempotency.actuate;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterMessage;
import dev.idempotency.redrive.RedriveReport;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SanitizableData;

/** A dead letter: sanitized unless values are shown, but for names, sizes and the class of its exception. */
record DeadLetterReport(
        Entry letter,
        InboxMessageReport.@Nullable Bytes key,
        List<InboxMessageReport.HeaderReport> headers,
        InboxMessageReport.@Nullable Bytes payload) {

    static DeadLetterReport of(DeadLetterMessage message, boolean showValues) {
        return new DeadLetterReport(
                Entry.of(message.letter(), showValues),
                InboxMessageReport.Bytes.of(message.key(), showValues),
                InboxMessageReport.HeaderReport.of(message.headers(), showValues),
                InboxMessageReport.Bytes.of(message.payload(), showValues));
    }

    /** A {@link DeadLetter} as a flat JSON object, named by where it stands. */
    record Entry(
            String deadLetter,
            String status,
            @Nullable RecordCoordinates original,
            @Nullable String group,
            @Nullable String exception,
            @Nullable String message,
            Instant at,
            int redrives,
            @Nullable Integer payloadSize) {

        static Entry of(DeadLetter letter, boolean showValues) {
            return new Entry(
                    letter.record().toString(),
                    letter.status().toString(),
                    letter.original(),
                    letter.group(),
                    letter.exception(),
                    (letter.message() == null || showValues) ? letter.message() : SanitizableData.SANITIZED_VALUE,
                    letter.at(),
                    letter.redrives(),
                    letter.payloadSize());
        }
    }

    /** Some dead letters of a consumer: {@code next} is what to ask for {@code after}, if there may be more. */
    record PageReport(
            List<Entry> deadLetters,
            Collection<String> topics,
            @Nullable String next,
            @Nullable RedriveReport redrive) {}

    /** All consumers, each with the redrive that runs, or ran last. */
    record Overview(Collection<ConsumerEntry> consumers) {}

    /** One of them. */
    record ConsumerEntry(String consumer, @Nullable RedriveReport redrive) {}
}
