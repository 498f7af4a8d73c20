package dev.idempotency.internal.redrive;

import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.job.ConsumerJobs.Control;
import dev.idempotency.internal.job.PartitionReader.Range;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.redrive.DeadLetterReader.Source;
import dev.idempotency.job.JobState;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.RedriveReport;
import dev.idempotency.redrive.RedriveReport.Refusal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends dead letters of a consumer back, partition by partition in the order in which they died.
 *
 * <p>After each poll offsets are committed up to where all were sent or stay. Whatever follows a dead letter that could not be
 * sent or was not selected, was sent before a crash, or is sent by another instance at the same time, is sent a second time, and
 * dropped as a duplicate. Later dead letters are left for the next redrive.
 */
final class Redrive {

    private static final Logger logger = LoggerFactory.getLogger(Redrive.class);

    private static final int REFUSALS_SHOWN = 20;

    private final Source source;
    private final String selection;
    private final RawRecordProducers producers;
    private final Instant startedAt = Instant.now();
    private final List<Refusal> refusals = new ArrayList<>();
    private final Map<DeadLetterStatus, Long> staying = new EnumMap<>(DeadLetterStatus.class);
    private long records;
    private long read;
    private long sent;
    private long refused;
    private volatile RedriveReport progress;

    Redrive(Source source, String selection, RawRecordProducers producers) {
        this.source = source;
        this.selection = selection;
        this.producers = producers;
        this.progress = report(JobState.RUNNING, null);
    }

    /** Sends back all pending ones that are selected, and reports how that ended. */
    RedriveReport run(Predicate<DeadLetter> selected, Control control) {
        RedriveReport report;
        try (DeadLetterReader reader = new DeadLetterReader(this.source)) {
            Map<TopicPartition, Range> ranges = reader.rest();
            this.records = ranges.values().stream().mapToLong(Range::length).sum();
            ranges.forEach((partition, range) -> send(reader, partition, range, selected, control));
            report = report(control.isCancelled() ? JobState.CANCELLED : JobState.COMPLETED, null);
        } catch (RuntimeException | Error ex) {
            logger.warn("The redrive of dead letters of consumer '{}' failed", this.source.consumer(), ex);
            report = report(
                    JobState.FAILED,
                    "Not all dead letters of consumer '%s' in %s could be sent back: %s. See that the brokers can be reached, and redrive again: what was sent is passed over, or dropped as a duplicate."
                            .formatted(
                                    this.source.consumer(),
                                    this.source.deadLetterTopics(),
                                    Causes.of(ex).deepest()));
        }
        logger.info("The redrive of dead letters of consumer '{}' has ended: {}", report.consumer(), report);
        return report;
    }

    private void send(
            DeadLetterReader reader,
            TopicPartition partition,
            Range range,
            Predicate<DeadLetter> selected,
            Control control) {
        AtomicBoolean left = new AtomicBoolean();
        reader.read(partition, range, control::isCancelled, polled -> {
            long done = range.from();
            for (ConsumerRecord<byte[], byte[]> record : polled) {
                boolean settled = isDone(reader.letterOf(record), record, selected, control);
                if (!settled && control.isCancelled()) {
                    break;
                }
                left.compareAndSet(false, !settled);
                done = left.get() ? done : record.offset() + 1;
                this.read++;
                this.progress = report(JobState.RUNNING, null);
            }
            reader.commit(partition, done);
        });
    }

    /** Sends a dead letter back if it is selected and pending; returns whether it need not be looked at again. */
    private boolean isDone(
            @Nullable DeadLetter letter,
            ConsumerRecord<byte[], byte[]> record,
            Predicate<DeadLetter> selected,
            Control control) {
        if (letter == null) {
            return true;
        }
        boolean wanted = selected.test(letter);
        if (letter.status() != DeadLetterStatus.PENDING) {
            if (wanted) {
                this.staying.merge(letter.status(), 1L, Long::sum);
            }
            return true;
        }
        if (wanted) {
            control.pace(1);
        }
        return wanted && !control.isCancelled() && send(letter, record);
    }

    /** Sends one dead letter back, even if it is expired or was sent before. */
    RedriveReport sendOne(DeadLetter letter, ConsumerRecord<byte[], byte[]> record) {
        this.records = 1;
        this.read = 1;
        if (letter.status() == DeadLetterStatus.UNROUTABLE || letter.status() == DeadLetterStatus.EXHAUSTED) {
            this.staying.put(letter.status(), 1L);
        } else {
            send(letter, record);
        }
        return report(JobState.COMPLETED, null);
    }

    /** Returns whether it was sent and not refused. */
    private boolean send(DeadLetter letter, ConsumerRecord<byte[], byte[]> record) {
        RecordCoordinates original = Objects.requireNonNull(letter.original());
        try {
            this.producers.send(
                    this.source.listener(),
                    original,
                    record.key(),
                    record.value(),
                    DeadLetterHeaders.forRedrive(record));
        } catch (OperatorActionException ex) {
            if (!RawRecordProducers.isRefusal(ex)) {
                throw new OperatorActionException(
                        "Dead letter %s of consumer '%s' %s. It can be redriven again."
                                .formatted(letter.record(), this.source.consumer(), ex.getMessage()),
                        ex.getCause());
            }
            this.refused++;
            if (this.refusals.size() < REFUSALS_SHOWN) {
                this.refusals.add(new Refusal(letter.record(), String.valueOf(ex.getMessage())));
            }
            return false;
        }
        logger.info(
                "Redrove dead letter {} of consumer '{}' to {}-{}, round {}",
                letter.record(),
                this.source.consumer(),
                original.topic(),
                original.partition(),
                letter.redrives() + 1);
        this.sent++;
        return true;
    }

    /** How far it has come; for any thread. */
    RedriveReport progress() {
        return this.progress;
    }

    private RedriveReport report(JobState state, @Nullable String failure) {
        return new RedriveReport(
                this.source.consumer(),
                this.selection,
                state,
                this.startedAt,
                (state != JobState.RUNNING) ? Instant.now() : null,
                this.records,
                this.read,
                this.sent,
                this.staying.getOrDefault(DeadLetterStatus.EXHAUSTED, 0L),
                this.staying.getOrDefault(DeadLetterStatus.EXPIRED, 0L),
                this.staying.getOrDefault(DeadLetterStatus.UNROUTABLE, 0L),
                this.refused,
                List.copyOf(this.refusals),
                failure);
    }
}
