package dev.idempotency.internal.listener;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.dedup.ClaimResult;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.definition.ConflictHandling;
import dev.idempotency.internal.definition.ListenerDefinition;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.key.MessageView;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.internal.store.ClaimedTransaction;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One call of a listener, in one transaction: identifies the messages, claims them, calls the listener with those that
 * are new, stores them in the inbox, commits, and reports. If several fail together, the error handler has them
 * redelivered one by one; only what fails by itself is reported as failed.
 */
abstract class IdempotentInvocation implements TransactionSynchronization {

    final Delivery delivery;
    final ListenerDefinition definition;
    private final OutcomeReporter outcomes;
    private ClaimStrategy strategy;
    private ClaimedTransaction transaction;
    private List<InboundMessage> messages = List.of();
    private BusinessKeyLocks.@Nullable Attempt lock;
    private Set<String> awaitedKeys = Set.of();
    private List<RecordCoordinates> withoutKey = List.of();
    private @Nullable ClaimResult result;
    private Map.@Nullable Entry<InboundMessage, Conflict> conflict;
    private IdempotencyContextHolder.@Nullable Scope context;
    private boolean returned;
    private boolean mayBeRefused = true;

    IdempotentInvocation(Delivery delivery, ListenerDefinition definition) {
        this.delivery = delivery;
        this.definition = definition;
        this.outcomes = new OutcomeReporter(definition);
        this.strategy = definition.strategy();
        this.transaction = definition.transactions().get();
    }

    /** Returns the message at a position of the delivery, for its key to be found. */
    abstract MessageView view(int position);

    /** Calls the listener with the new messages, in order; returns its result. */
    abstract @Nullable Object call(List<InboundMessage> accepted) throws Throwable;

    /** Returns the kept reply to these messages, which are duplicates, or {@code null}. */
    @Nullable
    Object replyAgain(List<InboundMessage> duplicates) {
        return null;
    }

    @Nullable
    Object proceed() throws Throwable {
        this.outcomes.delivered(this.delivery.records);
        this.messages = identify();
        if (this.messages.isEmpty() && !this.withoutKey.isEmpty()) {
            this.delivery.skip();
            this.definition.keyFailures().skipped(this.withoutKey);
            return this.definition.method().resultWhenSkipped();
        }
        try {
            Object result = execute();
            if (this.delivery.isNacked()) {
                reportFailure(new IllegalStateException("The listener called nack()"));
            }
            return result;
        } catch (Throwable ex) {
            if (this.conflict != null && isSingle()) {
                throw this.outcomes.refused(this.conflict.getKey(), this.conflict.getValue());
            }
            if (!this.transaction.isCommitted()) {
                reportFailure(ex);
            }
            throw ex;
        }
    }

    private void reportFailure(Throwable failure) {
        if (isSingle()) {
            this.outcomes.failed(
                    KafkaCoordinates.of(this.delivery.records.get(0)),
                    failure,
                    (this.result != null) ? this.result.accepted() : List.of());
        }
    }

    private boolean isSingle() {
        return this.delivery.records.size() == 1;
    }

    private List<InboundMessage> identify() {
        List<? extends ConsumerRecord<?, ?>> records = this.delivery.records;
        List<InboundMessage> identified = new ArrayList<>(records.size());
        for (int i = 0; i < records.size(); i++) {
            try {
                InboundMessage message = identify(records.get(i), i);
                if (message != null) {
                    identified.add(message);
                } else {
                    if (this.withoutKey.isEmpty()) {
                        this.withoutKey = new ArrayList<>();
                    }
                    this.withoutKey.add(KafkaCoordinates.of(records.get(i)));
                }
            } catch (RuntimeException ex) {
                throw isSingle() ? this.definition.keyFailures().judge(ex, records.get(i)) : ex;
            }
        }
        return identified;
    }

    private @Nullable InboundMessage identify(ConsumerRecord<?, ?> record, int position) {
        if (this.delivery.batch) {
            // The converter of a batch leaves its failures in the records, too.
            DeliveryListener.requireReadable(record);
        }
        return this.definition.messageFactory().create(position, view(position));
    }

    private @Nullable Object execute() throws Throwable {
        long start = System.nanoTime();
        try {
            Object result = this.transaction.execute(this::claimAndCall);
            if (this.lock == null || this.awaitedKeys.isEmpty()) {
                return result;
            }
            // It was rolled back, and waits for others of this instance without a connection.
            awaitLock(() -> this.lock.enter(this.awaitedKeys, true));
            this.transaction = this.definition.transactions().get();
            return this.transaction.execute(this::claimAndCall);
        } catch (Throwable ex) {
            ClaimResult refusal = findRefusal(ex);
            if (refusal == null) {
                throw ex;
            }
            requireNoConflict(refusal);
            this.delivery.skip();
            this.outcomes.committed(refusal, System.nanoTime() - start);
            return this.definition.method().resultWhenSkipped();
        } finally {
            if (this.context != null) {
                this.context.close();
            }
            if (this.lock != null) {
                this.lock.leave();
            }
            if (this.transaction.isCommitted() && this.returned) {
                // Whatever is thrown from now on, the records are done: no error handler may give them up.
                this.delivery.commit();
            }
            if (this.transaction.isCommitted() && this.result != null) {
                this.outcomes.committed(this.result, System.nanoTime() - start);
                this.definition.keyFailures().skipped(this.withoutKey);
            }
        }
    }

    private @Nullable Object claimAndCall() throws Throwable {
        ClaimResult answer = claim();
        requireNoConflict(answer);
        this.result = answer;
        if (answer.isEmpty() && !this.messages.isEmpty()) {
            this.delivery.skip();
            Object reply = replyAgain(this.messages);
            this.transaction.lookBeforeCommit();
            return (reply != null) ? reply : this.definition.method().resultWhenSkipped();
        }
        if (!lock(answer.accepted())) {
            this.transaction.requestRollback();
            return null;
        }
        this.transaction.watch(answer.claimed(), () -> describe(answer.claimed()));
        if (!this.strategy.isClaim() && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(this);
        }
        // Until the end of the transaction: what is called before and after its commit acts for them.
        this.context = IdempotencyContextHolder.open(answer.ids(), this.definition.steps());
        return callAndStore(answer.accepted());
    }

    /**
     * Locks the business keys of new messages; duplicates wait for none.
     *
     * @return {@code false} if another transaction of this instance has one, and this one is to wait for it elsewhere
     */
    private boolean lock(List<InboundMessage> accepted) {
        BusinessKeyLocks locks = this.definition.locks();
        if (locks == null || accepted.isEmpty()) {
            return true;
        }
        Set<String> keys = accepted.stream()
                .flatMap(message -> Stream.ofNullable(message.lock()))
                .collect(Collectors.toSet());
        if (this.lock == null) {
            this.lock = locks.attempt();
            if (!this.lock.enter(keys, false) && this.transaction.isOwn()) {
                this.awaitedKeys = keys;
                return false;
            }
        }
        awaitLock(() -> this.lock.lock(keys));
        return true;
    }

    private void awaitLock(Runnable wait) {
        long start = System.nanoTime();
        try {
            wait.run();
        } finally {
            this.definition.observer().lockWaited(System.nanoTime() - start);
        }
    }

    private void requireNoConflict(ClaimResult answer) {
        if (this.definition.conflicts().isFailure()) {
            // It must not be dropped: the other claims are rolled back.
            for (Map.Entry<InboundMessage, Conflict> first : answer.conflicts().entrySet()) {
                this.conflict = first;
                throw ConflictHandling.failure(first.getValue());
            }
        }
    }

    private String describe(@Nullable MessageId claimed) {
        return "%s of consumer '%s'"
                .formatted(
                        (claimed != null) ? "message '" + claimed.value() + "'" : "a message without an id",
                        this.definition.consumer());
    }

    private ClaimResult claim() {
        if (this.messages.isEmpty()) {
            // A filter has left nothing of a batch.
            return new ClaimResult(List.of(), List.of());
        }
        if (isSingle()) {
            this.strategy = this.strategy.within(this.transaction.isOwn());
        }
        if (!this.strategy.isClaim()) {
            return this.strategy.claim(this.messages);
        }
        IdempotencyEventListener observer = this.definition.observer();
        long start = System.nanoTime();
        try {
            ClaimResult answer = this.strategy.claim(this.messages);
            int claimed = answer.accepted().size();
            observer.claimAnswered(claimed, this.messages.size() - claimed, System.nanoTime() - start);
            return answer;
        } catch (RuntimeException ex) {
            observer.claimFailed(ex, System.nanoTime() - start);
            throw ex;
        }
    }

    private @Nullable Object callAndStore(List<InboundMessage> accepted) throws Throwable {
        Object result;
        try {
            result = call(accepted);
        } catch (Throwable ex) {
            if (!this.transaction.rollsBack(ex)) {
                store(accepted);
            }
            throw ex;
        }
        if (this.delivery.isNacked()) {
            this.transaction.requestRollback();
        } else {
            store(accepted);
            this.returned = true;
        }
        return result;
    }

    private void store(List<InboundMessage> accepted) {
        try {
            this.outcomes.processed(accepted);
        } catch (RuntimeException ex) {
            if (StoreExceptionTranslator.isOfAbortedTransaction(ex)) {
                // A statement of the listener's had failed before, and the error was caught.
                this.transaction.requireHeld();
            }
            throw ex;
        }
        this.transaction.lookBeforeCommit(() -> this.strategy.commit(accepted));
    }

    /** Something has failed before the commit: looks whether that was in this transaction, before it ends. */
    @Override
    public void beforeCompletion() {
        if (!this.transaction.isCommitting()) {
            try {
                this.mayBeRefused = this.strategy.mayBeRefused();
            } catch (RuntimeException ex) {
                this.mayBeRefused = false;
            }
        }
    }

    /** The answer to a message that was not claimed first, and is a duplicate by the failure of its transaction. */
    private @Nullable ClaimResult findRefusal(Throwable failure) {
        if (this.strategy.isClaim() || this.transaction.isCommitted() || this.delivery.isNacked()) {
            return null;
        }
        Causes.rethrowIfFatal(failure);
        try {
            return (this.messages.size() == 1 && this.mayBeRefused)
                    ? this.strategy.refusalOf(this.messages.get(0), failure)
                    : null;
        } catch (RuntimeException ex) {
            // It is not known whether the message was to blame: it is redelivered until the database can be asked.
            ex.addSuppressed(failure);
            throw ex;
        }
    }
}
