package dev.idempotency.internal.redrive;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.OperatorActionException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.job.ConsumerJobs;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.redrive.DeadLetterReader.Source;
import dev.idempotency.job.Page;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterMessage;
import dev.idempotency.redrive.DeadLetterQuery;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.ExceptionPattern;
import dev.idempotency.redrive.RedriveReport;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/** {@link DeadLetters} in the dead-letter topics of the brokers. */
public final class KafkaDeadLetters implements DeadLetters, DisposableBean {

    private final DeadLetterSources sources;
    private final RawRecordProducers producers;
    private final ConsumerJobs<RedriveReport> jobs;

    /** The producers, which send dead letters back, are closed with this. */
    public KafkaDeadLetters(DeadLetterSources sources, RawRecordProducers producers, int redrivesPerSecond) {
        this.sources = sources;
        this.producers = producers;
        this.jobs = new ConsumerJobs<>("redrive", redrivesPerSecond);
    }

    @Override
    public Set<String> consumers() {
        return this.sources.consumers();
    }

    @Override
    public Set<String> topics(String consumer) {
        return this.sources.read(this.sources.find(consumer), DeadLetterReader::topics);
    }

    @Override
    public Page<DeadLetter> find(DeadLetterQuery query) {
        RecordCoordinates after = (query.after() != null) ? RecordCoordinates.parse(query.after()) : null;
        return this.sources.read(this.sources.find(query.consumer()), reader -> reader.find(query, after));
    }

    @Override
    public @Nullable DeadLetterMessage find(String consumer, RecordCoordinates record) {
        return this.sources.read(this.sources.find(consumer), reader -> {
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
    public @Nullable RedriveReport redrive(String consumer, RecordCoordinates record) {
        Source source = this.sources.find(consumer);
        this.jobs.requireNone(consumer);
        return this.sources.read(source, reader -> {
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
        Source source = this.sources.find(consumer);
        if (source.description().strategy() == DeduplicationStrategy.OFFSET) {
            throw new OperatorActionException(
                    "Consumer '%s' has DeduplicationStrategy.OFFSET and would apply again what is sent back twice. Redrive its dead letters by their coordinates, each once."
                            .formatted(consumer),
                    null);
        }
        Redrive redrive = new Redrive(source, selection, this.producers);
        return this.jobs.start(consumer, redrive::progress, control -> redrive.run(selected, control));
    }

    @Override
    public @Nullable RedriveReport lastRedrive(String consumer) {
        return this.jobs.last(consumer);
    }

    @Override
    public boolean cancel(String consumer) {
        return this.jobs.cancel(consumer);
    }

    @Override
    public void destroy() {
        this.jobs.close();
        this.producers.close();
    }
}
