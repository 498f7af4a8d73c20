package dev.idempotency.internal.reconciliation;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.OperatorActionException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Reconciled;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.internal.definition.ProtectedListener;
import dev.idempotency.internal.job.ConsumerJobs;
import dev.idempotency.internal.job.RawRecordProducers;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.redrive.DeadLetterSources;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.reconciliation.ReconciliationOutcome;
import dev.idempotency.reconciliation.ReconciliationReport;
import dev.idempotency.reconciliation.ReconciliationRequest;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** {@link Reconciliation} that reads the topics of the brokers. */
public final class KafkaReconciliation implements Reconciliation, DisposableBean {

    /** Clocks differ, and a record may be older than its offset says: what is about to be forgotten counts as forgotten. */
    private static final double REMEMBERED_FOR_SURE = 0.9;

    private final Supplier<List<ProtectedListener>> listeners;
    private final ProcessedMessageStore store;
    private final Supplier<@Nullable Inbox> inbox;
    private final DeadLetterSources deadLetters;
    private final RawRecordProducers producers;
    private final IdempotencyEventListener observers;
    private final ConsumerJobs<ReconciliationReport> jobs;

    /** The producers, which send again what is missing, are closed with this. */
    public KafkaReconciliation(
            Supplier<List<ProtectedListener>> listeners,
            ProcessedMessageStore store,
            Supplier<@Nullable Inbox> inbox,
            DeadLetterSources deadLetters,
            RawRecordProducers producers,
            int recordsPerSecond,
            IdempotencyEventListener observers) {
        this.listeners = listeners;
        this.store = store;
        this.inbox = inbox;
        this.deadLetters = deadLetters;
        this.producers = producers;
        this.observers = observers;
        this.jobs = new ConsumerJobs<>("reconciliation", recordsPerSecond);
    }

    @Override
    public Set<String> consumers() {
        return this.deadLetters.consumers();
    }

    @Override
    public ReconciliationReport start(ReconciliationRequest request) {
        String consumer = request.consumer();
        List<ProtectedListener> own = this.deadLetters.listenersOf(consumer);
        if (request.replayFrom() != null
                && own.stream()
                        .map(ProtectedListener::container)
                        .anyMatch(DeserializerInstrumentation::hasOtherInterceptor)) {
            throw new OperatorActionException(
                    "Consumer '%s' has a RecordInterceptor or BatchInterceptor, which may have skipped what is missing, and would skip it again. Reconcile it without replayFrom, and send again what you know to be lost."
                            .formatted(consumer),
                    null);
        }
        Duration retention = own.stream()
                .map(listener -> listener.consumer().retention())
                .max(Duration::compareTo)
                .orElseThrow();
        ReconciliationRun run = new ReconciliationRun(
                request,
                scopes(own, false),
                scopes(own, true),
                Instant.now().minusSeconds((long) (retention.toSeconds() * REMEMBERED_FOR_SURE)),
                this.store,
                this.inbox.get(),
                this.deadLetters,
                this.producers);
        return this.jobs.start(consumer, run::progress, control -> {
            ReconciliationReport report = run.run(control);
            this.observers.reconciled(new Reconciled(
                    consumer,
                    report.state().toString(),
                    report.took(),
                    report.count(ReconciliationOutcome.MISSING) - report.replayed()));
            return report;
        });
    }

    /** The consumer's containers of retry topics, or all others. */
    private List<ContainerScope> scopes(List<ProtectedListener> own, boolean ofRetries) {
        String consumer = own.get(0).consumer().name();
        return own.stream()
                .<AbstractMessageListenerContainer<?, ?>>map(ProtectedListener::container)
                .distinct()
                .filter(container -> (container.getMainListenerId() != null) == ofRetries)
                .map(container -> {
                    String refusal = refusal(consumer, container);
                    if (refusal != null) {
                        throw new OperatorActionException(
                                "Consumer '%s' cannot be reconciled: %s.".formatted(consumer, refusal), null);
                    }
                    return new ContainerScope(container, Objects.requireNonNull(container.getGroupId()));
                })
                .toList();
    }

    /** The reason why a container cannot be reconciled, or {@code null}. */
    private @Nullable String refusal(String consumer, AbstractMessageListenerContainer<?, ?> container) {
        if (container.getGroupId() == null) {
            return "it has a listener without a group, so that there are no offsets to hold its topics against";
        }
        List<ProtectedListener> methods = this.listeners.get().stream()
                .filter(listener -> listener.container() == container)
                .toList();
        if (methods.stream().anyMatch(listener -> listener.consumer().strategy() != DeduplicationStrategy.MESSAGE_ID)) {
            return "it does not recognise messages by their ids: that needs DeduplicationStrategy.MESSAGE_ID";
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
                ? "its @KafkaHandler methods have different keys, or are not all of this consumer. Take the key of all from a header"
                : null;
    }

    @Override
    public @Nullable ReconciliationReport lastReconciliation(String consumer) {
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
