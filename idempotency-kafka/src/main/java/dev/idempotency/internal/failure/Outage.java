package dev.idempotency.internal.failure;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.event.ConsumerOutages.ConsumerOutage;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
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
 * One consumer's waiting: which of its threads wait for the database, since when, and how long until they try again;
 * and which of its partitions wait for their dead letter. Its beginning and its end are reported once each, however
 * many threads there are. Contention is an outage only if it lasts.
 */
final class Outage {

    private static final Logger logger = LoggerFactory.getLogger(Outage.class);

    private static final String ENDED = "no longer waits for";
    private static final String STOPPED = "was stopped while it waited for";

    private final String consumer;
    private final FailureClassifier classifier;
    private final BackOffSettings pauses;
    private final PoisonRecordDetector poisonRecords;
    private final Map<Thread, Waiting> waiting = new ConcurrentHashMap<>();
    private final Map<TopicPartition, RefusedDeadLetter> refused = new ConcurrentHashMap<>();
    private volatile IdempotencyEventListener observer = IdempotencyEventListener.NO_OP;
    private @Nullable ConsumerOutage declared;

    private record Waiting(int attempts, RecordCoordinates where) {}

    private record RefusedDeadLetter(Thread thread, ConsumerOutage outage) {}

    Outage(String consumer, FailureClassifier classifier, BackOffSettings pauses, BooleanSupplier storeTakesWrites) {
        this.consumer = consumer;
        this.poisonRecords = new PoisonRecordDetector(consumer, pauses.maxAttempts(), storeTakesWrites);
        this.classifier = classifier;
        this.pauses = pauses;
    }

    void setObserver(IdempotencyEventListener observer) {
        this.observer = observer;
    }

    /** The kind of a record's failure: the message's own also if it looks like an outage and is none. */
    FailureKind judge(Exception failure, ConsumerRecord<?, ?> record) {
        FailureKind kind = this.classifier.classify(failure);
        boolean messagesOwn = kind == FailureKind.OUTAGE && this.poisonRecords.recordFailure(failure, record);
        return messagesOwn ? FailureKind.MESSAGE : kind;
    }

    Duration longestPause() {
        return this.pauses.maxInterval();
    }

    PoisonRecordDetector poisonRecords() {
        return this.poisonRecords;
    }

    synchronized List<ConsumerOutage> current() {
        endIfNobodyWaits(STOPPED);
        endDeadLetters((partition, letter) -> !letter.thread().isAlive());
        List<ConsumerOutage> current = new ArrayList<>();
        if (this.declared != null) {
            current.add(this.declared);
        }
        this.refused.values().forEach(letter -> current.add(letter.outage()));
        return current;
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

    /** A message could not be dead-lettered by this thread: its partition waits. */
    synchronized void recordDeadLetterFailure(TopicPartition partition, RuntimeException failure) {
        RefusedDeadLetter known = this.refused.get(partition);
        Instant since = (known != null) ? known.outage().since() : Instant.now();
        String cause =
                "%s (%s)".formatted(failure.getMessage(), Causes.of(failure).deepest());
        ConsumerOutage outage = new ConsumerOutage(this.consumer, since, cause, Awaited.DEAD_LETTERS);
        this.refused.put(partition, new RefusedDeadLetter(Thread.currentThread(), outage));
        this.observer.deadLettersRefused(this.refused.size());
    }

    /** Keeps this thread's refused dead letters of some partitions: the others are published, or their message is done. */
    void retainDeadLetters(Predicate<TopicPartition> retained) {
        if (!this.refused.isEmpty()) {
            Thread current = Thread.currentThread();
            endDeadLetters((partition, letter) -> letter.thread() == current && !retained.test(partition));
        }
    }

    private synchronized void endDeadLetters(BiPredicate<TopicPartition, RefusedDeadLetter> ended) {
        if (this.refused.entrySet().removeIf(entry -> ended.test(entry.getKey(), entry.getValue()))) {
            this.observer.deadLettersRefused(this.refused.size());
        }
    }

    /** The exception by which the library itself has the consumer wait, or {@code null}. */
    static @Nullable ConsumerWaitingException findOwnReason(Throwable failure) {
        return Causes.of(failure)
                .all(ConsumerWaitingException.class)
                .filter(reason -> reason.awaited() == Awaited.KEYS || reason.awaited() == Awaited.BROKER)
                .findFirst()
                .orElse(null);
    }

    static boolean isWithoutKeys(Throwable failure) {
        ConsumerWaitingException own = findOwnReason(failure);
        return own != null && own.awaited() == Awaited.KEYS;
    }

    private void begin(Exception failure, RecordCoordinates where) {
        ConsumerWaitingException own = findOwnReason(failure);
        Throwable cause = (own != null) ? own : Causes.of(failure).deepest();
        String text = (own != null) ? String.valueOf(own.getMessage()) : cause.toString();
        Awaited awaited = (own != null) ? own.awaited() : Awaited.DATABASE;
        if (own != null) {
            logger.warn("Consumer '{}' is paused: {}", this.consumer, text);
        } else {
            logger.warn(
                    "Consumer '{}' waits for the database at {}: {}. It tries again, with pauses of at most {}, until it"
                            + " succeeds; nothing is skipped or dead-lettered meanwhile.",
                    this.consumer,
                    where,
                    text,
                    print(this.pauses.maxInterval()));
        }
        this.declared = new ConsumerOutage(this.consumer, Instant.now(), text, awaited);
        this.observer.outageBegan(cause);
    }

    /** The database has answered this thread. */
    void recordSuccess() {
        stopWaiting(ENDED);
    }

    /** The container of this thread stops. */
    void recordStop() {
        stopWaiting(STOPPED);
        retainDeadLetters(partition -> false);
    }

    /** Ends this thread's waiting for a record whose partition another consumer has now. */
    void stopWaitingUnless(Predicate<TopicPartition> assigned) {
        Waiting known = this.waiting.get(Thread.currentThread());
        if (known != null
                && !assigned.test(
                        new TopicPartition(known.where().topic(), known.where().partition()))) {
            stopWaiting(ENDED);
        }
    }

    private void stopWaiting(String how) {
        if (!this.waiting.isEmpty()) {
            synchronized (this) {
                this.waiting.remove(Thread.currentThread());
                endIfNobodyWaits(how);
            }
        }
    }

    /** Threads that have ended wait no longer: a consumer that could not be closed did not say so. */
    private void endIfNobodyWaits(String how) {
        this.waiting.keySet().removeIf(thread -> !thread.isAlive());
        ConsumerOutage outage = this.declared;
        if (outage != null && this.waiting.isEmpty()) {
            this.declared = null;
            Duration duration = Duration.between(outage.since(), Instant.now());
            String what = (outage.awaited() == Awaited.KEYS)
                    ? "keys"
                    : "the " + outage.awaited().name().toLowerCase(Locale.ROOT);
            logger.info("Consumer '{}' {} {}, after {}", this.consumer, how, what, print(duration));
            this.observer.outageEnded(duration.toNanos());
        }
    }

    private static String print(Duration duration) {
        ChronoUnit unit = (duration.toSeconds() < 1) ? ChronoUnit.MILLIS : ChronoUnit.SECONDS;
        return DurationFormatterUtils.print(duration.truncatedTo(unit), DurationFormat.Style.COMPOSITE);
    }
}
