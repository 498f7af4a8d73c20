package dev.idempotency.failure;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Knows which consumers wait for the database. */
public final class OutageRegistry {

    private final FailureClassifier classifier;
    private final BackOffSettings pauses;
    private final BooleanSupplier storeTakesWrites;
    private final Map<String, Outage> byConsumer = new ConcurrentHashMap<>();

    /**
     * Knows of no consumer that waits.
     *
     * @param classifierName the name of the classifier's bean
     * @param pauses those while the database is away; contention is an outage after as many attempts
     * @param storeTakesWrites asked, where a message fails again and again, whether the database is there all the same
     */
    public OutageRegistry(
            String classifierName,
            FailureClassifier classifier,
            BackOffSettings pauses,
            BooleanSupplier storeTakesWrites) {
        this.classifier = new DelegatingFailureClassifier(classifierName, classifier);
        this.pauses = pauses;
        this.storeTakesWrites = storeTakesWrites;
    }

    /** Those that wait now. */
    public List<ConsumerOutage> current() {
        return this.byConsumer.values().stream()
                .map(Outage::current)
                .filter(Objects::nonNull)
                .toList();
    }

    /** The kind of a failure, of whatever it is that fails. */
    public FailureKind classify(Throwable failure) {
        return this.classifier.classify(failure);
    }

    /**
     * Whether an attempt that has been rolled back failed for an outage, and not for what is about to be found the
     * message's own failure.
     *
     * @param records those of the attempt; of several it is not known which is the reason
     */
    public boolean isOutage(String consumer, List<? extends ConsumerRecord<?, ?>> records, Throwable failure) {
        return classify(failure) == FailureKind.OUTAGE
                && !(records.size() == 1 && outageOf(consumer).suspects().isAboutToBlame(failure, records.get(0)));
    }

    /** What is to be run, on the thread that made it, after each commit of a consumer: by that an outage is known to be over. */
    public Runnable afterCommitOf(String consumer) {
        return outageOf(consumer)::recordSuccess;
    }

    Outage outageOf(String consumer) {
        return this.byConsumer.computeIfAbsent(
                consumer, name -> new Outage(name, this.classifier, this.pauses, this::storeTakesWrites));
    }

    private boolean storeTakesWrites() {
        try {
            return this.storeTakesWrites.getAsBoolean();
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            return false;
        }
    }
}
