package dev.idempotency.reconciliation;

import dev.idempotency.ReconciliationException;
import dev.idempotency.Strategy;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.job.ConsumerJobs;
import dev.idempotency.job.JobControl;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.RawRecordProducers;
import dev.idempotency.observe.ObserverNotifier;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * Holds the topics of a consumer against what is remembered of it: every record that its group has committed must be
 * processed, dead-lettered or recorded as failed. What is not is missing, and can be sent again.
 *
 * <p>It reads beside the consumer, as a member of no group, with the listener's own deserializers, filter and key, from the
 * records of a time on to the offsets that the group had committed when it began. The listener is not called. It judges
 * records from the first one on that the consumer remembers of their partition: what came before may have been processed
 * without the library, or under another name.
 *
 * <p>A message that is sent again takes the ordinary path: should it have been processed after all, it is dropped. But what
 * was removed from the tables counts as never processed, and is processed again.
 */
public final class Reconciliation implements DisposableBean {

    /** Clocks disagree, and a record may be older than its offset says: what is about to be forgotten counts as forgotten. */
    private static final double REMEMBERED_FOR_SURE = 0.9;

    /** Dead letters are younger than their originals, but other clocks say so. */
    private static final Duration CLOCKS_DISAGREE = Duration.ofHours(1);

    private final Supplier<List<ProtectedListener>> listeners;
    private final ProcessedMessageStore store;
    private final Supplier<@Nullable Inbox> inbox;
    private final DeadLetters deadLetters;
    private final RawRecordProducers producers;
    private final int recordsPerSecond;
    private final ObserverNotifier<ReconciliationObserver> observers;
    private final ConsumerJobs jobs = new ConsumerJobs("reconciliation");
    private final Map<String, ReconciliationProgress> runs = new ConcurrentHashMap<>();

    /**
     * Looks at nothing yet.
     *
     * @param inbox the application's, if it has one
     * @param producers sends again what is missing, and is closed with this
     * @param recordsPerSecond how many records are read at most
     */
    public Reconciliation(
            Supplier<List<ProtectedListener>> listeners,
            ProcessedMessageStore store,
            Supplier<@Nullable Inbox> inbox,
            DeadLetters deadLetters,
            RawRecordProducers producers,
            int recordsPerSecond,
            ObserverNotifier<ReconciliationObserver> observers) {
        this.listeners = listeners;
        this.store = store;
        this.inbox = inbox;
        this.deadLetters = deadLetters;
        this.producers = producers;
        this.recordsPerSecond = recordsPerSecond;
        this.observers = observers;
    }

    /** The consumers with listeners. */
    public Set<String> consumers() {
        return this.listeners.get().stream()
                .map(listener -> listener.consumer().name())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Starts a reconciliation: one at a time per consumer.
     *
     * @return how it stands at its beginning
     * @throws ReconciliationException if there is no such consumer, its listeners have no group, or another one is under way
     */
    public synchronized ReconciliationReport start(ReconciliationRequest request) {
        String consumer = request.consumer();
        String refusal = replayRefusal(consumer);
        ReconciliationRequest granted =
                (refusal != null) ? ReconciliationRequest.of(consumer, request.since()) : request;
        ReconciliationProgress progress = new ReconciliationProgress(granted, refusal);
        JobControl control = new JobControl(this.recordsPerSecond);
        ReconciliationRun run = prepare(granted, progress, control);
        Runnable work = () -> {
            ReconciliationReport report = run.run();
            this.observers.tell(observer -> observer.reconciled(report));
        };
        boolean started = this.jobs.start(consumer, control, work, progress::end);
        if (!started) {
            throw new ReconciliationException(
                    "Consumer '%s' is being reconciled already. Wait until that is done, or cancel it."
                            .formatted(consumer),
                    null);
        }
        this.runs.put(consumer, progress);
        return progress.report();
    }

    /** Why records of a consumer are not sent again, or {@code null} if they can be. */
    private @Nullable String replayRefusal(String consumer) {
        return containersOf(consumer).anyMatch(ContainerFacts::hasInterceptor)
                ? "Consumer '%s' has a RecordInterceptor or BatchInterceptor, which may have skipped what is missing, and would skip it again. Send again what you know to be lost."
                        .formatted(consumer)
                : null;
    }

    private ReconciliationRun prepare(
            ReconciliationRequest request, ReconciliationProgress progress, JobControl control) {
        String consumer = request.consumer();
        List<ContainerScope> main = scopes(consumer, container -> container.getMainListenerId() == null);
        List<ContainerScope> retries = scopes(consumer, container -> container.getMainListenerId() != null);
        if (main.isEmpty()) {
            throw new ReconciliationException(
                    "There is no listener of consumer '%s' in this application; there are %s"
                            .formatted(consumer, consumers()),
                    null);
        }
        Duration retention = this.listeners.get().stream()
                .filter(listener -> listener.consumer().name().equals(consumer))
                .map(listener -> listener.consumer().retention())
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        Instant since = Instant.now().minus(request.since()).minus(CLOCKS_DISAGREE);
        Supplier<OtherWhereabouts> elsewhere = () -> new OtherWhereabouts(
                retries,
                () -> this.deadLetters.originalsSince(consumer, since, control::isCancelled),
                control::isCancelled);
        Inbox kept = this.inbox.get();
        return new ReconciliationRun(
                request,
                progress,
                control,
                main,
                elsewhere,
                Instant.now().minusSeconds((long) (retention.toSeconds() * REMEMBERED_FOR_SURE)),
                this.store,
                ids -> (kept != null) ? kept.statuses(ids) : Map.of(),
                this.producers);
    }

    private List<ContainerScope> scopes(String consumer, Predicate<AbstractMessageListenerContainer<?, ?>> kind) {
        return containersOf(consumer)
                .filter(kind)
                .map(container -> scope(consumer, container))
                .toList();
    }

    private Stream<AbstractMessageListenerContainer<?, ?>> containersOf(String consumer) {
        return this.listeners.get().stream()
                .filter(listener -> listener.consumer().name().equals(consumer))
                .<AbstractMessageListenerContainer<?, ?>>map(ProtectedListener::container)
                .distinct();
    }

    private ContainerScope scope(String consumer, AbstractMessageListenerContainer<?, ?> container) {
        String group = container.getGroupId();
        String refusal = refusal(consumer, container);
        if (group == null || refusal != null) {
            throw new ReconciliationException(
                    "Consumer '%s' cannot be reconciled: %s.".formatted(consumer, refusal), null);
        }
        return new ContainerScope(container, group);
    }

    /** Why the records of a container cannot be held against what is remembered, or {@code null} if they can. */
    private @Nullable String refusal(String consumer, AbstractMessageListenerContainer<?, ?> container) {
        if (container.getGroupId() == null) {
            return "it has a listener without a group, so that there are no offsets to hold its topics against";
        }
        List<ProtectedListener> methods = this.listeners.get().stream()
                .filter(listener -> listener.container() == container)
                .toList();
        if (methods.stream().anyMatch(listener -> listener.consumer().strategy() != Strategy.MESSAGE_ID)) {
            return "it does not recognise messages by ids of their own: that is for Strategy.MESSAGE_ID";
        }
        List<String> arguments = methods.stream()
                .flatMap(listener -> listener.keyArguments().stream())
                .toList();
        if (!arguments.isEmpty()) {
            return "its key is made of the arguments %s, which only a delivery has. Take it from #payload, #record or #headers"
                    .formatted(arguments);
        }
        int called = methods.isEmpty() ? 0 : methods.get(0).methodCount();
        boolean alike = methods.stream()
                .allMatch(listener -> listener.consumer().name().equals(consumer) && listener.keyExpression() == null);
        return (called > 1 && (!alike || methods.size() < called))
                ? "its @KafkaHandler methods have keys of their own, or are not all of this consumer. Take the key of all from a header"
                : null;
    }

    /** The reconciliation of a consumer that runs, or ran last since the start of this instance; {@code null} without one. */
    public @Nullable ReconciliationReport lastReconciliation(String consumer) {
        ReconciliationProgress progress = this.runs.get(consumer);
        return (progress != null) ? progress.report() : null;
    }

    /** Has the reconciliation of a consumer end soon; returns whether there is one. */
    public boolean cancel(String consumer) {
        return this.jobs.cancel(consumer);
    }

    @Override
    public void destroy() {
        this.jobs.close();
        this.producers.close();
    }
}
