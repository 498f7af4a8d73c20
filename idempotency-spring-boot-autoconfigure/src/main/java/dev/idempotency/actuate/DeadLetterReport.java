package dev.idempotency.actuate;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.job.Page;
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
                message.headers().stream()
                        .map(header -> InboxMessageReport.HeaderReport.of(header, showValues))
                        .toList(),
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
            @Nullable RedriveReport redrive) {

        static PageReport of(
                Page<DeadLetter> page, Collection<String> topics, boolean showValues, @Nullable RedriveReport redrive) {
            return new PageReport(
                    page.entries().stream()
                            .map(letter -> Entry.of(letter, showValues))
                            .toList(),
                    topics,
                    page.next(),
                    redrive);
        }
    }

    /** All consumers, each with the redrive that runs, or ran last. */
    record Overview(Collection<ConsumerEntry> consumers) {}

    /** One of them. */
    record ConsumerEntry(String consumer, @Nullable RedriveReport redrive) {}
}
