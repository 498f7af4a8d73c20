package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.RedriveException;
import dev.idempotency.failure.Causes;
import dev.idempotency.job.JobControl;
import dev.idempotency.kafka.PartitionReader.Range;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.redrive.RedriveReport.State;
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
 * <p>The brokers remember up to where all were sent or stay, after each poll. What stands behind one that could not be sent
 * or was not selected, what was sent before a crash, and what another instance sends at the same moment, is sent a second
 * time, and the claim drops it. What dies meanwhile is left for the next time.
 */
final class Redrive {

    private static final Logger logger = LoggerFactory.getLogger(Redrive.class);

    private final DeadLetterSource source;
    private final Predicate<DeadLetter> selection;
    private final int maxRedrives;
    private final RawRecordProducers producers;
    private final RedriveProgress progress;
    private final JobControl control;

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
        reader.contents().keySet().forEach(partition -> ranges.put(partition, reader.rest(partition)));
        this.progress.expect(ranges.values().stream().mapToLong(Range::length).sum());
        ranges.forEach((partition, range) -> send(reader, partition, range));
    }

    private void send(DeadLetterReader reader, TopicPartition partition, Range range) {
        long[] next = {range.from()};
        long[] done = {range.from()};
        reader.read(partition, range, this.control::isCancelled, records -> {
            for (ConsumerRecord<byte[], byte[]> record : records) {
                boolean settled = !this.control.isCancelled() && isDone(reader, record);
                if (this.control.isCancelled() && !settled) {
                    break;
                }
                pass(next, done, record.offset() + 1, settled);
            }
            reader.commit(partition, done[0]);
        });
        if (!this.control.isCancelled()) {
            pass(next, done, range.to(), true);
            reader.commit(partition, done[0]);
        }
    }

    /** Goes on to an offset; all before it is done only if nothing before was left. */
    private void pass(long[] next, long[] done, long to, boolean settled) {
        if (settled && done[0] == next[0]) {
            done[0] = to;
        }
        this.progress.read(to - next[0]);
        next[0] = to;
    }

    /** Sends a dead letter back if it is to be; returns whether it need not be looked at again. */
    private boolean isDone(DeadLetterReader reader, ConsumerRecord<byte[], byte[]> record) {
        DeadLetter letter = reader.letterOf(record);
        if (letter == null) {
            return true;
        }
        boolean selected = this.selection.test(letter);
        if (letter.status() == DeadLetterStatus.PENDING) {
            if (selected) {
                this.control.pace(1);
            }
            return selected && !this.control.isCancelled() && send(record, letter);
        }
        if (selected) {
            this.progress.stays(letter.status());
        }
        return true;
    }

    private boolean send(ConsumerRecord<byte[], byte[]> record, DeadLetter letter) {
        String refusal = send(this.source, record, letter, this.producers);
        if (refusal != null) {
            this.progress.refused(letter.record(), refusal);
            return false;
        }
        this.progress.sent();
        return true;
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
