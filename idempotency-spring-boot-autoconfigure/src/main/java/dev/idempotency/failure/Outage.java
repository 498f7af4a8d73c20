package dev.idempotency.failure;

import dev.idempotency.IdempotencyException;
import dev.idempotency.NoKeysYetException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicUnknownException;
import dev.idempotency.failure.ConsumerOutage.Awaited;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * One consumer's waiting for the database: which of its threads wait, since when, and how long until they try again.
 *
 * <p>Its beginning and its end are logged and observed once each, however many threads and attempts there are. Contention
 * is an outage only if it lasts.
 */
final class Outage {

    private static final Logger logger = LoggerFactory.getLogger(Outage.class);

    private final String consumer;
    private final FailureClassifier classifier;
    private final BackOffSettings pauses;
    private final SuspectRecords suspects;
    private final Map<Thread, Waiting> waiting = new ConcurrentHashMap<>();
    private volatile ConsumerObserver observer = ConsumerObserver.NO_OP;
    private @Nullable ConsumerOutage declared;

    private record Waiting(int attempts, RecordCoordinates where) {

        TopicPartition partition() {
            return new TopicPartition(this.where.topic(), this.where.partition());
        }
    }

    Outage(String consumer, FailureClassifier classifier, BackOffSettings pauses, BooleanSupplier storeTakesWrites) {
        this.consumer = consumer;
        this.suspects = new SuspectRecords(consumer, pauses.maxAttempts(), storeTakesWrites);
        this.classifier = classifier;
        this.pauses = pauses;
    }

    void setObserver(ConsumerObserver observer) {
        this.observer = observer;
    }

    FailureKind classify(Exception failure) {
        return this.classifier.classify(failure);
    }

    /** The kind of a record's failure: the message's own also if it looks like an outage and is none. */
    FailureKind judge(Exception failure, ConsumerRecord<?, ?> record) {
        FailureKind kind = classify(failure);
        boolean messagesOwn = kind == FailureKind.OUTAGE && this.suspects.recordFailure(failure, record);
        return messagesOwn ? FailureKind.MESSAGE : kind;
    }

    Duration longestPause() {
        return this.pauses.maxInterval();
    }

    SuspectRecords suspects() {
        return this.suspects;
    }

    synchronized @Nullable ConsumerOutage current() {
        endIfNobodyWaits();
        return this.declared;
    }

    /** An attempt of this thread has failed; returns how long to wait before the next. */
    synchronized Duration recordFailure(FailureKind kind, Exception failure, RecordCoordinates where) {
        Waiting last = this.waiting.get(Thread.currentThread());
        int attempts = (last != null) ? last.attempts() + 1 : 1;
        this.waiting.put(Thread.currentThread(), new Waiting(attempts, where));
        if (this.declared == null && (kind == FailureKind.OUTAGE || attempts >= this.pauses.maxAttempts())) {
            begin(failure, where);
        }
        return this.pauses.pauseAfter(attempts);
    }

    /** The exception by which the library itself has the consumer wait, or {@code null}. */
    static @Nullable IdempotencyException findOwnReason(Throwable failure) {
        Causes causes = Causes.of(failure);
        NoKeysYetException noKeysYet = causes.find(NoKeysYetException.class);
        return (noKeysYet != null) ? noKeysYet : causes.find(TopicUnknownException.class);
    }

    private void begin(Exception failure, RecordCoordinates where) {
        IdempotencyException own = findOwnReason(failure);
        if (own != null) {
            Awaited awaited = (own instanceof NoKeysYetException) ? Awaited.KEYS : Awaited.BROKER;
            this.declared = new ConsumerOutage(this.consumer, Instant.now(), String.valueOf(own.getMessage()), awaited);
            logger.warn("Consumer '{}' is paused: {}", this.consumer, own.getMessage());
            this.observer.outageBegan(own);
            return;
        }
        Throwable cause = Causes.of(failure).deepest();
        this.declared = new ConsumerOutage(this.consumer, Instant.now(), cause.toString(), Awaited.DATABASE);
        logger.warn(
                "Consumer '{}' waits for the database at {}: {}. It tries again, with pauses of at most {}, until it succeeds;"
                        + " nothing is skipped or dead-lettered meanwhile.",
                this.consumer,
                where,
                cause.toString(),
                this.pauses.maxInterval());
        this.observer.outageBegan(cause);
    }

    /** The database has answered this thread. */
    void recordSuccess() {
        if (!this.waiting.isEmpty()) {
            stopWaiting();
        }
    }

    /** Ends this thread's waiting for a record whose partition another consumer has now. */
    void stopWaitingUnless(Predicate<TopicPartition> assigned) {
        Waiting known = this.waiting.isEmpty() ? null : this.waiting.get(Thread.currentThread());
        if (known != null && !assigned.test(known.partition())) {
            stopWaiting();
        }
    }

    private synchronized void stopWaiting() {
        this.waiting.remove(Thread.currentThread());
        endIfNobodyWaits();
    }

    /** Threads that have ended wait no longer: a consumer that could not be closed did not say so. */
    private void endIfNobodyWaits() {
        this.waiting.keySet().removeIf(thread -> !thread.isAlive());
        ConsumerOutage outage = this.declared;
        if (outage != null && this.waiting.isEmpty()) {
            this.declared = null;
            Duration duration = Duration.between(outage.since(), Instant.now());
            String what =
                    switch (outage.awaited()) {
                        case DATABASE -> "the database";
                        case BROKER -> "the broker";
                        case KEYS -> "keys";
                    };
            logger.info(
                    "Consumer '{}' no longer waits for {}, after {}",
                    this.consumer,
                    what,
                    DurationFormatterUtils.print(
                            duration.truncatedTo(ChronoUnit.MILLIS), DurationFormat.Style.COMPOSITE));
            this.observer.outageEnded(duration.toNanos());
        }
    }
}
