package dev.idempotency.redrive;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.job.ConsumerJobs;
import dev.idempotency.job.RawRecordProducers;
import dev.idempotency.redrive.DeadLetterSourceResolver.Source;
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

/**
 * The dead letters of consumers: to be looked at, and to be sent back once their cause is fixed.
 *
 * <p>A dead letter goes to the topic and partition where it stood first, with its key, headers and value, so that it takes
 * the ordinary path: it is processed once, however often it is sent. All groups that read the topic see it. A header counts
 * the rounds, and after some it stays. Up to where all were sent back is remembered by the brokers, as the offsets of a group
 * without members: {@code <consumer group>.redrive.<consumer>}.
 *
 * <p>All methods throw {@link OperatorActionException} if there is no such consumer, or the brokers do not answer.
 */
public final class DeadLetters implements DisposableBean {

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
    public DeadLetters(
            DeadLetterSourceResolver sources, RawRecordProducers producers, int maxRedrives, int redrivesPerSecond) {
        this.sources = sources;
        this.producers = producers;
        this.maxRedrives = maxRedrives;
        this.jobs = new ConsumerJobs<>("redrive", redrivesPerSecond);
    }

    /** The consumers whose dead letters are known. */
    public Set<String> consumers() {
        return new TreeSet<>(this.sources.consumers());
    }

    /** Some of the dead letters that fit the query. */
    public DeadLetterPage find(DeadLetterQuery query) {
        return read(source(query.consumer()), reader -> reader.find(query));
    }

    /** One dead letter of a consumer with its whole record, or {@code null} if there is none there. */
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

    /**
     * The original records of a consumer's dead letters since a time.
     *
     * @param stopped asked now and then: whether to look no further
     */
    public OriginalRecords originalsSince(String consumer, Instant since, BooleanSupplier stopped) {
        return read(source(consumer), reader -> reader.originalsSince(since, stopped));
    }

    /**
     * Sends one dead letter back, even if that was done before or it is older than the consumer's retention, and returns
     * when the brokers have it.
     *
     * @return what became of it; {@code null} if there is no such dead letter
     * @throws OperatorActionException also if another redrive of the consumer is under way
     */
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

    /**
     * Starts to send back all dead letters of a consumer that are pending: those that died before this moment, are not older
     * than its retention and have not been sent back.
     *
     * @throws OperatorActionException also if the consumer does not recognise what is sent twice, or another redrive is under way
     */
    public RedriveReport redriveAll(String consumer) {
        return start(consumer, "all", letter -> true);
    }

    /** The same of those with such an exception alone. */
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

    /** The redrive of a consumer that runs, or ran last since the start of this instance; {@code null} without one. */
    public @Nullable RedriveReport lastRedrive(String consumer) {
        return this.jobs.last(consumer);
    }

    /** Has the redrive of a consumer end after the dead letter that is being sent; returns whether there is one. */
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
