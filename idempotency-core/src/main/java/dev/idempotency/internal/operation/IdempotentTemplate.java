package dev.idempotency.internal.operation;

import dev.idempotency.Claim;
import dev.idempotency.DuplicateKind;
import dev.idempotency.Execution;
import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageConflictException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.StoreFailedException;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.Sha256;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.ResultType;
import dev.idempotency.internal.result.Steps;
import dev.idempotency.internal.store.BusinessKeyLocks;
import dev.idempotency.internal.store.ClaimedTransaction;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/** Claims from code, in transactions of the store's {@code DataSource}. */
public final class IdempotentTemplate implements IdempotentOperations, SmartInitializingSingleton {

    /** Claims from code come from no record. */
    private static final RecordCoordinates NOWHERE = new RecordCoordinates("-", 0, 0);

    /** MariaDB lets only one of the transactions that wait for an id proceed each time its holder fails. */
    private static final int MAX_ATTEMPTS = 20;

    private final ProcessedMessageStore store;
    private final DeclaredConsumers consumers;
    private final @Nullable ResultStore results;
    private final @Nullable BusinessKeyLocks locks;
    private final @Nullable Steps steps;
    private final OperationTransactions transactions;

    /** {@code results}, {@code locks} and {@code steps} are {@code null} if the application defines its own store. */
    public IdempotentTemplate(
            ProcessedMessageStore store,
            DeclaredConsumers consumers,
            @Nullable ResultStore results,
            @Nullable BusinessKeyLocks locks,
            @Nullable Steps steps,
            ListableBeanFactory beanFactory) {
        this.store = store;
        this.consumers = consumers;
        this.results = results;
        this.locks = locks;
        this.steps = steps;
        this.transactions = new OperationTransactions(beanFactory, store);
    }

    /** Fails the start if there is no transaction manager, and any consumer is declared. */
    @Override
    public void afterSingletonsInstantiated() {
        if (!this.consumers.isEmpty()) {
            this.transactions.requireManager();
        }
    }

    @Override
    public Execution<@Nullable Void> execute(MessageId id, Runnable work) {
        return executeWithoutResult(id, null, work);
    }

    @Override
    public Execution<@Nullable Void> execute(MessageId id, String fingerprint, Runnable work) {
        return executeWithoutResult(id, Sha256.first64(fingerprint), work);
    }

    private Execution<@Nullable Void> executeWithoutResult(MessageId id, @Nullable Long digest, Runnable work) {
        Supplier<@Nullable Void> withoutResult = () -> {
            work.run();
            return null;
        };
        return execute(id, digest, withoutResult, result -> result, () -> null);
    }

    @Override
    public <T extends @Nullable Object> Execution<T> execute(MessageId id, Class<T> type, Supplier<? extends T> work) {
        return executeAndKeep(id, null, type, work);
    }

    @Override
    public <T extends @Nullable Object> Execution<T> execute(
            MessageId id, String fingerprint, Class<T> type, Supplier<? extends T> work) {
        return executeAndKeep(id, Sha256.first64(fingerprint), type, work);
    }

    @Override
    public <T extends @Nullable Object> Execution<T> execute(
            MessageId id, ParameterizedTypeReference<T> type, Supplier<? extends T> work) {
        return executeAndKeep(id, null, type.getType(), work);
    }

    @SuppressWarnings("unchecked") // A converter reads what it is asked for, as the caller's cast will tell.
    private <T extends @Nullable Object> Execution<T> executeAndKeep(
            MessageId id, @Nullable Long digest, Type type, Supplier<? extends T> work) {
        Type readable = ResultType.of(type);
        ResultStore kept = this.results;
        if (kept == null) {
            throw new IllegalStateException("Results are stored in a table beside the processed messages, but the"
                    + " application defines its own ProcessedMessageStore. Use the provided store, or work without a"
                    + " result.");
        }
        return execute(
                id, digest, work, result -> (T) kept.keep(id, readable, result), () -> (T) kept.get(id, readable));
    }

    private <T extends @Nullable Object> Execution<T> execute(
            MessageId id,
            @Nullable Long digest,
            Supplier<? extends T> work,
            UnaryOperator<T> keeping,
            Supplier<? extends T> before) {
        requireId(id);
        Outcome outcome = new Outcome(this.consumers.observerOf(id.consumer()), digest, this.transactions.isOpen());
        for (int attempt = 1; ; attempt++) {
            // Until the end of the transaction: what is called before and after its commit acts for the same id.
            IdempotencyContextHolder.Scope context = IdempotencyContextHolder.open(
                    List.of(id), (this.steps != null) ? this.steps.reportedTo(outcome.observer) : null);
            try {
                return this.transactions.execute(
                        id, transaction -> execute(id, work, keeping, before, transaction, outcome));
            } catch (Throwable ex) {
                outcome.undone = outcome.joined;
                // Nothing was done yet, and the database rolled back for the sake of a concurrent transaction.
                boolean repeatable = !outcome.joined
                        && outcome.claimed.isEmpty()
                        && StoreExceptionTranslator.isSerializationFailure(ex);
                if (attempt == MAX_ATTEMPTS || !repeatable) {
                    throw ex;
                }
            } finally {
                context.close();
                outcome.reportIfOwn();
            }
        }
    }

    private <T extends @Nullable Object> Execution<T> execute(
            MessageId id,
            Supplier<? extends T> work,
            UnaryOperator<T> keeping,
            Supplier<? extends T> before,
            ClaimedTransaction transaction,
            Outcome outcome) {
        claim(List.of(id), transaction, outcome);
        if (outcome.claimed.isEmpty()) {
            return new Execution<>(id, true, before.get());
        }
        T result = work.get();
        try {
            result = keeping.apply(result);
        } catch (RuntimeException ex) {
            if (StoreExceptionTranslator.isOfAbortedTransaction(ex)) {
                transaction.requireHeld();
            }
            throw ex;
        }
        transaction.lookBeforeCommit();
        return new Execution<>(id, false, result);
    }

    private static void requireId(@Nullable MessageId id) {
        if (id == null) {
            throw new IllegalArgumentException(
                    "There is no id to claim: it is null. Make one with MessageId.of(consumer, key).");
        }
    }

    @Override
    public boolean claim(MessageId id) {
        requireId(id);
        return !claimAll(List.of(id)).isEmpty();
    }

    @Override
    public Set<MessageId> claimAll(Collection<MessageId> ids) {
        ids.forEach(IdempotentTemplate::requireId);
        Map<String, Set<MessageId>> byConsumer = ids.stream()
                .collect(Collectors.groupingBy(
                        MessageId::consumer, TreeMap::new, Collectors.toCollection(LinkedHashSet::new)));
        byConsumer.keySet().forEach(this.consumers::observerOf);
        return this.transactions.join(transaction -> {
            Set<MessageId> free = new LinkedHashSet<>(ids);
            byConsumer.forEach((consumer, its) -> {
                Outcome outcome = new Outcome(this.consumers.observerOf(consumer), null, true);
                claim(List.copyOf(its), transaction, outcome);
                outcome.duplicates.forEach(duplicate -> free.remove(duplicate.id()));
            });
            transaction.lookBeforeCommit();
            return free;
        });
    }

    @Override
    public void lock(String key) {
        Assert.state(
                this.locks != null, "Business keys are locked by the provided ProcessedMessageStore only. Use it.");
        this.locks.lock(key);
    }

    /** Claims ids of one consumer in a transaction. */
    private void claim(List<MessageId> ids, ClaimedTransaction transaction, Outcome outcome) {
        outcome.transaction = transaction;
        long start = System.nanoTime();
        try {
            Set<MessageId> claimed = this.store.claim(ids.stream()
                    .map(id -> new Claim(id, NOWHERE, outcome.digest))
                    .toList());
            outcome.observer.claimAnswered(claimed.size(), ids.size() - claimed.size(), System.nanoTime() - start);
            outcome.duplicates =
                    duplicates(ids.stream().filter(id -> !claimed.contains(id)).toList(), outcome);
            if (!claimed.isEmpty()) {
                MessageId first = claimed.iterator().next();
                transaction.watch(first, first::toString);
            }
            outcome.claimed = ids.stream().filter(claimed::contains).toList();
            if (outcome.joined) {
                TransactionSynchronizationManager.registerSynchronization(outcome);
            }
        } catch (UnprotectedCallException ex) {
            throw this.transactions.otherDataSource(ex);
        } catch (MessageConflictException ex) {
            throw ex;
        } catch (RuntimeException ex) {
            outcome.observer.claimFailed(ex, System.nanoTime() - start);
            throw translate(ids.get(0), ex);
        }
    }

    private List<Duplicate> duplicates(List<MessageId> ids, Outcome outcome) {
        Map<MessageId, ProcessedMessage> originals = ids.isEmpty() ? Map.of() : this.store.findOriginals(ids);
        return ids.stream()
                .map(id -> {
                    ProcessedMessage original = originals.get(id);
                    requireSameFingerprint(id, original, outcome);
                    return new Duplicate(
                            id,
                            NOWHERE,
                            DuplicateKind.REPUBLICATION,
                            (original != null) ? original.processedAt() : null,
                            (original != null) ? original.age() : null);
                })
                .toList();
    }

    private static void requireSameFingerprint(MessageId id, @Nullable ProcessedMessage original, Outcome outcome) {
        Long before = (original != null) ? original.payloadDigest() : null;
        if (original != null && before != null && outcome.digest != null && !before.equals(outcome.digest)) {
            outcome.observer.conflict(new Conflict(id, NOWHERE, original.coordinates(), original.processedAt()));
            throw new MessageConflictException(
                    "%s was used at %s for a request with another fingerprint. Nothing was applied: use a new key."
                            .formatted(id, original.processedAt()));
        }
    }

    private static RuntimeException translate(MessageId id, RuntimeException failure) {
        RuntimeException translated = StoreExceptionTranslator.translate("claim " + id, failure);
        return (translated instanceof StoreFailedException)
                ? new StoreFailedException(
                        "Could not claim %s: %s. Nothing was recorded or applied; try again. %s"
                                .formatted(id, failure.getMessage(), StoreExceptionTranslator.remedyFor(failure)),
                        failure)
                : translated;
    }

    /** Reports claims to the consumer's observer when their transaction has ended. */
    private static final class Outcome implements TransactionSynchronization {

        private final IdempotencyEventListener observer;
        private final @Nullable Long digest;
        private final boolean joined;
        private boolean undone;
        private final long start = System.nanoTime();
        private @Nullable ClaimedTransaction transaction;
        private List<MessageId> claimed = List.of();
        private List<Duplicate> duplicates = List.of();

        /** {@code joined} is whether it takes part in an outer transaction, whose end it must wait for. */
        Outcome(IdempotencyEventListener observer, @Nullable Long digest, boolean joined) {
            this.observer = observer;
            this.digest = digest;
            this.joined = joined;
        }

        @Override
        public void afterCompletion(int status) {
            report(status == STATUS_COMMITTED && !this.undone);
        }

        void reportIfOwn() {
            if (!this.joined && this.transaction != null) {
                report(this.transaction.isCommitted());
            }
        }

        private void report(boolean committed) {
            if (committed) {
                if (!this.claimed.isEmpty()) {
                    this.observer.committed(System.nanoTime() - this.start);
                }
                this.claimed.forEach(id -> this.observer.processed(id, NOWHERE));
                this.duplicates.forEach(this.observer::duplicate);
            } else {
                this.claimed.forEach(id -> this.observer.failed(NOWHERE, null));
            }
        }
    }
}
