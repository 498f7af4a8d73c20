package dev.idempotency.internal.redrive;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.job.ConsumerJobs;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.redrive.DeadLetterSourceResolver.Source;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterMessage;
import dev.idempotency.redrive.DeadLetterPage;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.ExceptionPattern;
import dev.idempotency.redrive.RedriveReport;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/** {@link DeadLetters} in the dead-letter topics of the brokers. */
public final class KafkaDeadLetters implements DeadLetters, DisposableBean {

    private final DeadLetterSourceResolver sources;
    private final RawRecordProducers producers;
    private final int maxRedrives;
    private final ConsumerJobs<RedriveReport> jobs;

    /**
     * Reads nothing yet.
     *
     * @param producers sends dead letters back, and is closed with this
     * @param maxRedrives how often a dead letter is sent back at most
     * @param redrivesPerSecond how many are sent at most
     */
    public KafkaDeadLetters(
            DeadLetterSourceResolver sources, RawRecordProducers producers, int maxRedrives, int redrivesPerSecond) {
        this.sources = sources;
        this.producers = producers;
        this.maxRedrives = maxRedrives;
        this.jobs = new ConsumerJobs<>("redrive", redrivesPerSecond);
    }

    @Override
    public Set<String> consumers() {
        return new TreeSet<>(this.sources.consumers());
    }

    @Override
    public DeadLetterPage find(DeadLetterQuery query) {
        return read(source(query.consumer()), reader -> reader.find(query));
    }

    @Override
    public @Nullable DeadLetterMessage find(String consumer, RecordCoordinates record) {
        return read(source(consumer), reader -> {
            ConsumerRecord<byte[], byte[]> found = reader.find(record);
            return (found == null)
                    ? null
                    : new DeadLetterMessage(
                            Objects.requireNonNull(reader.letterOf(found)),
                            found.key(),
                            List.of(found.headers().toArray()),
                            found.value());
        });
    }

    @Override
    public OriginalRecords originalsSince(String consumer, Instant since, BooleanSupplier stopped) {
        return read(source(consumer), reader -> reader.originalsSince(since, stopped));
    }

    @Override
    public @Nullable RedriveReport redrive(String consumer, RecordCoordinates record) {
        Source source = source(consumer);
        if (this.jobs.isRunning(consumer)) {
            throw underWay(consumer);
        }
        return read(source, reader -> {
            ConsumerRecord<byte[], byte[]> found = reader.find(record);
            if (found == null) {
                return null;
            }
            DeadLetter letter = Objects.requireNonNull(reader.letterOf(found));
            return new Redrive(source, letter.record().toString(), this.producers).sendOne(letter, found);
        });
    }

    @Override
    public RedriveReport redriveAll(String consumer) {
        return start(consumer, "all", letter -> true);
    }

    @Override
    public RedriveReport redriveMatching(String consumer, ExceptionPattern exception) {
        return start(consumer, exception.text(), letter -> exception.matches(letter.exception()));
    }

    private RedriveReport start(String consumer, String selection, Predicate<DeadLetter> selected) {
        Source source = source(consumer);
        if (source.description().strategy() == DeduplicationStrategy.OFFSET) {
            throw new OperatorActionException(
                    "Consumer '%s' has DeduplicationStrategy.OFFSET and would apply again what is sent back twice. Redrive its dead letters by their coordinates, each once."
                            .formatted(consumer),
                    null);
        }
        Redrive redrive = new Redrive(source, selection, this.producers);
        RedriveReport started = this.jobs.start(
                consumer, redrive::progress, control -> redrive.run(selected, this.maxRedrives, control));
        if (started == null) {
            throw underWay(consumer);
        }
        return started;
    }

    private static OperatorActionException underWay(String consumer) {
        return new OperatorActionException(
                "Dead letters of consumer '%s' are being redriven already. Wait until that is done, or cancel it."
                        .formatted(consumer),
                null);
    }

    @Override
    public @Nullable RedriveReport lastRedrive(String consumer) {
        return this.jobs.last(consumer);
    }

    @Override
    public boolean cancel(String consumer) {
        return this.jobs.cancel(consumer);
    }

    private Source source(String consumer) {
        Source source;
        try {
            source = this.sources.resolve(consumer);
        } catch (KafkaException ex) {
            throw new OperatorActionException(
                    "The topics of consumer '%s', which are found by a pattern, cannot be listed: %s. See that the brokers can be reached with the listener's settings, and that the application may describe topics."
                            .formatted(consumer, ex),
                    ex);
        }
        if (source == null) {
            throw new OperatorActionException(
                    "There is no listener of consumer '%s' in this application; there are %s"
                            .formatted(consumer, consumers()),
                    null);
        }
        return source;
    }

    private <T extends @Nullable Object> T read(Source source, Function<DeadLetterReader, T> work) {
        try (DeadLetterReader reader = new DeadLetterReader(source, this.maxRedrives)) {
            return work.apply(reader);
        } catch (KafkaException ex) {
            throw new OperatorActionException(
                    "The dead letters of consumer '%s' in %s cannot be read: %s. See that the brokers can be reached with the listener's settings, and that the application may read these topics, and commit offsets as group '%s'."
                            .formatted(source.consumer(), source.deadLetterTopics(), ex, source.redriveGroup()),
                    ex);
        }
    }

    @Override
    public void destroy() {
        this.jobs.close();
        this.producers.close();
    }
}
