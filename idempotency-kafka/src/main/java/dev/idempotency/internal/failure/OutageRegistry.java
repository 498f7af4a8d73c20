package dev.idempotency.internal.failure;

import dev.idempotency.failure.DatabaseFailureClassifier;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.event.ConsumerOutages;
import dev.idempotency.internal.event.ConsumerOutages.ConsumerOutage;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows which consumers wait for the database, and classifies their failures: those that the library throws by their type,
 * all others by the application's classifier. If that one throws, the default is used, as records would be lost otherwise.
 */
public final class OutageRegistry implements ConsumerOutages {

    private static final Logger logger = LoggerFactory.getLogger(OutageRegistry.class);

    /** Thrown if a service that a deserializer calls, such as a schema registry, does not answer. */
    private static final List<Class<? extends Exception>> NO_ANSWER = List.of(
            RetriableException.class,
            InterruptException.class,
            WakeupException.class,
            SocketException.class,
            SocketTimeoutException.class,
            UnknownHostException.class,
            UnresolvedAddressException.class,
            HttpTimeoutException.class);

    private final String classifierName;
    private final FailureClassifier classifier;
    private final FailureClassifier database = new DatabaseFailureClassifier();
    private final BackOffSettings pauses;
    private final BooleanSupplier storeTakesWrites;
    private final Map<String, Outage> byConsumer = new ConcurrentHashMap<>();

    /** {@code storeTakesWrites} is asked when a message fails again and again: is the database there all the same? */
    public OutageRegistry(
            String classifierName,
            FailureClassifier classifier,
            BackOffSettings pauses,
            BooleanSupplier storeTakesWrites) {
        this.classifierName = classifierName;
        this.classifier = classifier;
        this.pauses = pauses;
        this.storeTakesWrites = storeTakesWrites;
    }

    @Override
    public List<ConsumerOutage> current() {
        return this.byConsumer.values().stream()
                .distinct()
                .flatMap(outage -> outage.current().stream())
                .toList();
    }

    /** Whether a record could not be read because a service did not answer. */
    public static boolean isServiceUnavailable(Throwable failure) {
        Causes causes = Causes.of(failure);
        return NO_ANSWER.stream().anyMatch(causes::contains);
    }

    public FailureKind classify(Throwable failure) {
        if (Outage.findOwnReason(failure) != null) {
            return FailureKind.OUTAGE;
        }
        // A failure of the store is never the message's, whatever the application's classifier says.
        FailureKind kind = DatabaseFailureClassifier.isOfStore(failure) ? null : ask(failure);
        return (kind != null) ? kind : this.database.classify(failure);
    }

    /** The answer of the application's classifier, or {@code null} if it fails. */
    private @Nullable FailureKind ask(Throwable failure) {
        try {
            return Objects.requireNonNull(this.classifier.classify(failure), "It returned null");
        } catch (Throwable ex) {
            Causes.rethrowIfFatal(ex);
            logger.error(
                    "FailureClassifier '{}' ({}) failed at a {}: the default is used instead. Fix the classifier: it must"
                            + " return a FailureKind.",
                    this.classifierName,
                    this.classifier.getClass().getName(),
                    failure.getClass().getName(),
                    ex);
            return null;
        }
    }

    /** Whether a failed attempt is an outage, and not about to be found the fault of its only message. */
    public boolean isOutage(String consumer, List<? extends ConsumerRecord<?, ?>> records, Throwable failure) {
        return classify(failure) == FailureKind.OUTAGE
                && !(records.size() == 1
                        && outageOf(consumer).poisonRecords().isAboutToBePoison(failure, records.get(0)));
    }

    /** To be run after each commit of a consumer, on the thread that made it: an outage is over then. */
    public Runnable afterCommitOf(String consumer) {
        return () -> outageOf(consumer).recordSuccess();
    }

    /** The outage of consumers whose messages one container delivers: they wait together, under the name of the first. */
    Outage share(List<String> consumers) {
        Outage outage = outageOf(consumers.get(0));
        consumers.forEach(consumer -> this.byConsumer.put(consumer, outage));
        return outage;
    }

    Outage outageOf(String consumer) {
        return this.byConsumer.computeIfAbsent(
                consumer, name -> new Outage(name, this::classify, this.pauses, this::storeTakesWrites));
    }

    private boolean storeTakesWrites() {
        try {
            return this.storeTakesWrites.getAsBoolean();
        } catch (Throwable ex) {
            Causes.rethrowIfFatal(ex);
            return false;
        }
    }
}
