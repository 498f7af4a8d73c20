package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.RedriveException;
import dev.idempotency.failure.Causes;
import dev.idempotency.job.JobControl;
import dev.idempotency.kafka.PartitionReader.Range;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.redrive.RedriveReport.State;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends dead letters of a consumer back, partition by partition in the order in which they died.
 *
 * <p>That one was sent is remembered after the brokers have it, every now and then: a crash in between leads to a second
 * send, which the claim drops; as does another instance that does the same at the same moment. What dies meanwhile is left
 * for the next time.
 */
final class Redrive {

    private static final Logger logger = LoggerFactory.getLogger(Redrive.class);

    private static final int SENT_BETWEEN_COMMITS = 100;
    private static final Duration BETWEEN_COMMITS = Duration.ofSeconds(1);

    private final DeadLetterSource source;
    private final Predicate<DeadLetter> selection;
    private final int maxRedrives;
    private final RawRecordProducers producers;
    private final RedriveProgress progress;
    private final JobControl control;
    private int uncommitted;
    private long committedAt;

    Redrive(
            DeadLetterSource source,
            Predicate<DeadLetter> selection,
            int maxRedrives,
            RawRecordProducers producers,
            RedriveProgress progress,
            JobControl control) {
        this.source = source;
        this.selection = selection;
        this.maxRedrives = maxRedrives;
        this.producers = producers;
        this.progress = progress;
        this.control = control;
    }

    /** Sends back all that are selected, and says in the progress how it ended. */
    void run() {
        RedriveReport report = send();
        logger.info(
                "The redrive of dead letters of consumer '{}' is {}: {} sent, {} parked, {} expired, {} astray, {} refused",
                report.consumer(),
                report.state(),
                report.sent(),
                report.parked(),
                report.expired(),
                report.astray(),
                report.refused());
    }

    private RedriveReport send() {
        try (DeadLetterReader reader = DeadLetterReader.open(this.source, this.maxRedrives)) {
            send(reader);
            return this.progress.conclude(this.control.isCancelled() ? State.CANCELLED : State.COMPLETED, null);
        } catch (RuntimeException | Error ex) {
            logger.warn("The redrive of dead letters of consumer '{}' failed", this.source.consumer(), ex);
            return this.progress.conclude(
                    State.FAILED,
                    "Not all dead letters of consumer '%s' in %s could be sent back: %s. See that the brokers can be reached, and redrive again: what was sent is passed over, or dropped as a duplicate."
                            .formatted(
                                    this.source.consumer(),
                                    this.source.deadLetterTopics().keySet(),
                                    Causes.of(ex).deepest()));
        }
    }

    private void send(DeadLetterReader reader) {
        Map<TopicPartition, Range> ranges = new LinkedHashMap<>();
        reader.contents().forEach((partition, contents) -> {
            long from = Math.min(reader.redriven(partition).position(), contents.to());
            ranges.put(partition, new Range(from, contents.to()));
        });
        this.progress.expect(ranges.values().stream().mapToLong(Range::length).sum());
        this.committedAt = System.nanoTime();
        try {
            ranges.forEach((partition, range) -> send(reader, partition, range));
        } catch (RuntimeException | Error ex) {
            try {
                reader.commit();
            } catch (RuntimeException unheard) {
                ex.addSuppressed(unheard);
            }
            throw ex;
        }
        reader.commit();
    }

    private void send(DeadLetterReader reader, TopicPartition partition, Range range) {
        long[] next = {range.from()};
        reader.read(partition, range, this.control::isCancelled, records -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (this.control.isCancelled()) {
                    return;
                }
                reader.redriven(partition).add(new Range(next[0], record.offset()));
                commitIfDue(reader);
                if (isDone(reader, record)) {
                    reader.redriven(partition).add(new Range(record.offset(), record.offset() + 1));
                } else if (this.control.isCancelled()) {
                    return;
                }
                this.progress.read(record.offset() + 1 - next[0]);
                next[0] = record.offset() + 1;
            }
        });
        if (!this.control.isCancelled()) {
            reader.redriven(partition).add(new Range(next[0], range.to()));
            this.progress.read(range.to() - next[0]);
        }
    }

    /** Sends a dead letter back if it is to be; returns whether it need not be looked at again. */
    private boolean isDone(DeadLetterReader reader, ConsumerRecord<byte[], byte[]> record) {
        DeadLetter letter = reader.letterOf(record);
        if (letter == null) {
            return true;
        }
        if (letter.status() == DeadLetterStatus.PENDING && this.selection.test(letter)) {
            this.control.pace(1);
            return !this.control.isCancelled() && send(record, letter);
        }
        if (this.selection.test(letter)) {
            this.progress.stays(letter.status());
        }
        return letter.status() == DeadLetterStatus.REDRIVEN;
    }

    private boolean send(ConsumerRecord<byte[], byte[]> record, DeadLetter letter) {
        String refusal = send(this.source, record, letter, this.producers);
        if (refusal != null) {
            this.progress.refused(letter.record(), refusal);
            return false;
        }
        this.progress.sent();
        this.uncommitted++;
        return true;
    }

    /** Says every now and then what was sent, and hears what other instances have sent. */
    private void commitIfDue(DeadLetterReader reader) {
        long now = System.nanoTime();
        if (this.uncommitted >= SENT_BETWEEN_COMMITS || now - this.committedAt > BETWEEN_COMMITS.toNanos()) {
            reader.commit();
            this.uncommitted = 0;
            this.committedAt = now;
        }
    }

    /**
     * Sends a dead letter back to where it stood first.
     *
     * @return why it was refused, or {@code null} if it was sent
     * @throws RedriveException if the brokers do not answer
     */
    static @Nullable String send(
            DeadLetterSource source,
            ConsumerRecord<byte[], byte[]> record,
            DeadLetter letter,
            RawRecordProducers producers) {
        RecordCoordinates original = letter.original();
        if (original == null) {
            return "Its headers do not lead back to a topic that the consumer reads";
        }
        try {
            producers.send(
                    source.listener(),
                    new ProducerRecord<>(
                            original.topic(),
                            original.partition(),
                            record.key(),
                            record.value(),
                            DeadLetterHeaders.forRedrive(record)));
            logger.info(
                    "Redrove dead letter {} of consumer '{}' to {}-{}, round {}",
                    letter.record(),
                    source.consumer(),
                    original.topic(),
                    original.partition(),
                    letter.redrives() + 1);
            return null;
        } catch (Exception ex) {
            if (ex instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            if (RawRecordProducers.isRefusal(ex)) {
                return String.valueOf(Causes.of(ex).deepest());
            }
            throw new RedriveException(
                    "Dead letter %s of consumer '%s' could not be sent to %s: %s. It can be redriven again."
                            .formatted(
                                    letter.record(),
                                    source.consumer(),
                                    original.topic(),
                                    Causes.of(ex).deepest()),
                    ex);
        }
    }
}
