package dev.idempotency.redrive;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.RedriveException;
import dev.idempotency.Strategy;
import dev.idempotency.job.ConsumerJobs;
import dev.idempotency.job.JobControl;
import dev.idempotency.kafka.BrokerQueries;
import dev.idempotency.kafka.PartitionReader.Range;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.redrive.RedriveReport.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/**
 * The dead letters of consumers: to be looked at, and to be sent back once their cause is mended.
 *
 * <p>A dead letter goes to the topic and partition where it stood first, with its key, headers and value, so that it takes
 * the ordinary path: it is processed once, however often it is sent. All groups that read the topic see it. A header counts
 * the rounds, and after some it stays. Up to where all were sent back is remembered by the brokers, as the offsets of a group
 * that nobody is a member of: {@code <consumer group>.redrive.<consumer>}.
 */
public final class DeadLetters implements DisposableBean {

    private final DeadLetterSourceResolver sources;
    private final RawRecordProducers producers;
    private final int maxRedrives;
    private final int redrivesPerSecond;
    private final ConsumerJobs jobs = new ConsumerJobs("redrive");
    private final Map<String, RedriveProgress> runs = new ConcurrentHashMap<>();

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
        this.redrivesPerSecond = redrivesPerSecond;
    }

    /** The consumers whose dead letters are known. */
    public Set<String> consumers() {
        return new TreeSet<>(this.sources.consumers());
    }

    /**
     * Some of the dead letters that fit the query.
     *
     * @throws RedriveException if there is no such consumer, or the brokers do not answer
     */
    public DeadLetterPage find(DeadLetterQuery query) {
        DeadLetterSource source = source(query.consumer());
        return asking(source, () -> new DeadLetterSearch(query, this.maxRedrives).in(source));
    }

    /**
     * One dead letter of a consumer with all that stands in its record, or {@code null} if there is none there.
     *
     * @throws RedriveException if there is no such consumer, or the brokers do not answer
     */
    public @Nullable DeadLetterMessage find(String consumer, RecordCoordinates record) {
        DeadLetterSource source = source(consumer);
        return asking(
                source,
                () -> withRecord(
                        source,
                        record,
                        (reader, found) -> new DeadLetterMessage(
                                Objects.requireNonNull(reader.letterOf(found)),
                                found.key(),
                                List.of(found.headers().toArray()),
                                found.value())));
    }

    /**
     * The originals of the dead letters of a consumer that died since a time: to tell them from messages that are nowhere.
     *
     * @param stopped asked now and then: whether to look no further
     * @throws RedriveException if there is no such consumer, or the brokers do not answer
     */
    public OriginalRecords originalsSince(String consumer, Instant since, BooleanSupplier stopped) {
        DeadLetterSource source = source(consumer);
        return asking(source, () -> {
            OriginalRecords originals = new OriginalRecords();
            try (DeadLetterReader reader = DeadLetterReader.open(source, this.maxRedrives)) {
                reader.readSince(since, stopped, records -> records.stream()
                        .filter(record -> DeadLetterHeaders.belongsTo(source, record.headers()))
                        .forEach(originals::addOriginalOf));
            }
            return originals;
        });
    }

    /**
     * Sends one dead letter back, even if that was done before or it is older than the consumer's retention, and returns
     * when the brokers have it.
     *
     * @return what became of it; {@code null} if there is no such dead letter
     * @throws RedriveException if there is no such consumer, another redrive of it is under way, or the brokers do not
     *     answer
     */
    public @Nullable RedriveReport redrive(String consumer, RecordCoordinates record) {
        DeadLetterSource source = source(consumer);
        RedriveProgress before = this.runs.get(consumer);
        if (before != null && before.report().state() == State.RUNNING) {
            throw underWay(consumer);
        }
        return asking(source, () -> withRecord(source, record, (reader, found) -> redrive(source, reader, found)));
    }

    private RedriveReport redrive(
            DeadLetterSource source, DeadLetterReader reader, ConsumerRecord<byte[], byte[]> record) {
        DeadLetter letter = Objects.requireNonNull(reader.letterOf(record));
        RedriveProgress progress =
                new RedriveProgress(source.consumer(), letter.record().toString(), groupsSeeing(source, letter));
        progress.expect(1);
        if (letter.redrives() >= this.maxRedrives || letter.original() == null) {
            progress.stays(letter.original() == null ? DeadLetterStatus.ASTRAY : DeadLetterStatus.PARKED);
        } else {
            String refusal = Redrive.send(source, record, letter, this.producers);
            if (refusal != null) {
                progress.refused(letter.record(), refusal);
            } else {
                progress.sent();
            }
        }
        progress.read(1);
        return progress.conclude(State.COMPLETED, null);
    }

    /**
     * Starts to send back all dead letters of a consumer that are pending: those that died before this moment, are not older
     * than its retention and have not been sent back.
     *
     * @throws RedriveException if there is no such consumer, it does not recognise what is sent twice, or another redrive of
     *     it is under way
     */
    public RedriveReport redriveAll(String consumer) {
        return start(consumer, "all", letter -> true);
    }

    /** The same of those with such an exception alone. */
    public RedriveReport redriveMatching(String consumer, ExceptionPattern exception) {
        return start(consumer, exception.text(), letter -> exception.matches(letter.exception()));
    }

    private RedriveReport start(String consumer, String selection, Predicate<DeadLetter> selected) {
        DeadLetterSource source = source(consumer);
        if (source.description().strategy() == Strategy.OFFSET) {
            throw new RedriveException(
                    "Consumer '%s' has Strategy.OFFSET and would apply again what is sent back twice. Redrive its dead letters by their coordinates, each once."
                            .formatted(consumer),
                    null);
        }
        JobControl control = new JobControl(this.redrivesPerSecond);
        RedriveProgress progress = new RedriveProgress(consumer, selection, groupsSeeing(source, null));
        Redrive redrive = new Redrive(source, selected, this.maxRedrives, this.producers, progress, control);
        synchronized (this.runs) {
            if (!this.jobs.start(consumer, control, redrive::run, progress::end)) {
                throw underWay(consumer);
            }
            this.runs.put(consumer, progress);
        }
        return progress.report();
    }

    private static RedriveException underWay(String consumer) {
        return new RedriveException(
                "Dead letters of consumer '%s' are being redriven already. Wait until that is done, or cancel it."
                        .formatted(consumer),
                null);
    }

    /** The redrive of a consumer that runs, or ran last since the start of this instance; {@code null} without one. */
    public @Nullable RedriveReport lastRedrive(String consumer) {
        RedriveProgress progress = this.runs.get(consumer);
        return (progress != null) ? progress.report() : null;
    }

    /** Has the redrive of a consumer end after the dead letter that is being sent; returns whether there is one. */
    public boolean cancel(String consumer) {
        return this.jobs.cancel(consumer);
    }

    private DeadLetterSource source(String consumer) {
        DeadLetterSource source;
        try {
            source = this.sources.resolve(consumer);
        } catch (KafkaException ex) {
            throw new RedriveException(
                    "The topics of consumer '%s', which are found by a pattern, cannot be listed: %s. See that the brokers can be reached with the listener's settings, and that the application may describe topics."
                            .formatted(consumer, ex),
                    ex);
        }
        if (source == null) {
            throw new RedriveException(
                    "There is no listener of consumer '%s' in this application; there are %s"
                            .formatted(consumer, consumers()),
                    null);
        }
        return source;
    }

    private static <T extends @Nullable Object> T asking(DeadLetterSource source, Supplier<T> question) {
        try {
            return question.get();
        } catch (KafkaException ex) {
            throw new RedriveException(
                    "The dead letters of consumer '%s' in %s cannot be read: %s. See that the brokers can be reached with the listener's settings, and that the application may read these topics, and commit offsets as group '%s'."
                            .formatted(
                                    source.consumer(), source.deadLetterTopics().keySet(), ex, source.redriveGroup()),
                    ex);
        }
    }

    /** Those of one topic, or of all that the consumer reads; {@code null} if the brokers do not tell. */
    private static @Nullable Set<String> groupsSeeing(DeadLetterSource source, @Nullable DeadLetter letter) {
        try (BrokerQueries queries = new BrokerQueries(source.listener(), "dead-letters")) {
            RecordCoordinates original = (letter != null) ? letter.original() : null;
            return queries.groupsReading((original != null) ? Set.of(original.topic()) : source.topics());
        } catch (KafkaException ex) {
            return null;
        }
    }

    private <T> @Nullable T withRecord(
            DeadLetterSource source,
            RecordCoordinates wanted,
            BiFunction<DeadLetterReader, ConsumerRecord<byte[], byte[]>, T> work) {
        if (!source.deadLetterTopics().containsKey(wanted.topic())) {
            return null;
        }
        try (DeadLetterReader reader = DeadLetterReader.open(source, Set.of(wanted.topic()), this.maxRedrives)) {
            TopicPartition partition = new TopicPartition(wanted.topic(), wanted.partition());
            Range contents = reader.contents().get(partition);
            if (contents == null || wanted.offset() < contents.from() || wanted.offset() >= contents.to()) {
                return null;
            }
            List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
            reader.read(partition, new Range(wanted.offset(), wanted.offset() + 1), () -> false, found::addAll);
            return (found.isEmpty() || reader.letterOf(found.get(0)) == null) ? null : work.apply(reader, found.get(0));
        }
    }

    @Override
    public void destroy() {
        this.jobs.close();
        this.producers.close();
    }
}
