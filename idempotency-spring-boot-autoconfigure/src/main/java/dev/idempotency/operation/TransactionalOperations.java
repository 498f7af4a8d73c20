package dev.idempotency.operation;

import dev.idempotency.Claim;
import dev.idempotency.ClaimTimeoutException;
import dev.idempotency.DuplicateKind;
import dev.idempotency.Execution;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.StoreFailedException;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.observe.Duplicate;
import dev.idempotency.result.KeptResults;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.store.StoreExceptionTranslator;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Claims from code, in transactions of the store's {@code DataSource}. */
public final class TransactionalOperations implements IdempotentOperations, SmartInitializingSingleton {

    /** Of those who wait for an id, MariaDB lets only one go on each time that its holder fails. */
    private static final int MAX_ATTEMPTS = 20;

    private final ProcessedMessageStore store;
    private final DeclaredConsumers consumers;
    private final @Nullable KeptResults results;
    private final OperationTransaction transaction;

    /** {@code results} is {@code null} if the application has a store of its own, beside which none can be kept. */
    public TransactionalOperations(
            ProcessedMessageStore store,
            DeclaredConsumers consumers,
            @Nullable KeptResults results,
            ListableBeanFactory beanFactory) {
        this.store = store;
        this.consumers = consumers;
        this.results = results;
        this.transaction = new OperationTransaction(beanFactory, store);
    }

    /** What would fail every execution fails the start, if there is anybody to execute something for. */
    @Override
    public void afterSingletonsInstantiated() {
        if (!this.consumers.isEmpty()) {
            this.transaction.requireManager();
        }
    }

    @Override
    public Execution<@Nullable Void> execute(MessageId id, Runnable work) {
        return execute(
                id,
                () -> {
                    work.run();
                    return null;
                },
                result -> result,
                () -> null);
    }

    @Override
    public <T extends @Nullable Object> Execution<T> execute(MessageId id, Class<T> type, Supplier<? extends T> work) {
        return executeAndKeep(id, ResultType.of(type), work);
    }

    @Override
    public <T extends @Nullable Object> Execution<T> execute(
            MessageId id, ParameterizedTypeReference<T> type, Supplier<? extends T> work) {
        return executeAndKeep(id, ResultType.of(type.getType()), work);
    }

    @SuppressWarnings("unchecked") // A converter reads what it is asked for, as the caller's cast will tell.
    private <T extends @Nullable Object> Execution<T> executeAndKeep(
            MessageId id, Type type, Supplier<? extends T> work) {
        KeptResults kept = this.results;
        if (kept == null) {
            throw new IllegalStateException("Results are kept in a table beside that of processed messages, but the"
                    + " application has a ProcessedMessageStore of its own. Use the provided store, or work without a"
                    + " result.");
        }
        return execute(id, work, result -> (T) kept.keep(id, type, result), () -> (T) kept.get(id, type));
    }

    /** What is done with the result of work that was done. */
    @FunctionalInterface
    private interface Keeping<T extends @Nullable Object> {

        T keep(T result);
    }

    private <T extends @Nullable Object> Execution<T> execute(
            MessageId id, Supplier<? extends T> work, Keeping<T> keeping, Supplier<? extends T> before) {
        requireId(id);
        ConsumerObserver observer = this.consumers.observerOf(id.consumer());
        if (this.transaction.isOpen()) {
            return execute(id, observer, () -> inContext(id, work), keeping, before, new AtomicReference<>());
        }
        for (int attempt = 1; ; attempt++) {
            AtomicReference<@Nullable ClaimOutcome> outcome = new AtomicReference<>();
            try {
                // Until the end of the transaction: what is called before and after its commit acts for the same id.
                return inContext(id, () -> execute(id, observer, work, keeping, before, outcome));
            } catch (Throwable ex) {
                takeBackIfCommitted(outcome.get(), ex);
                if (attempt == MAX_ATTEMPTS || !canBeRepeated(outcome.get(), ex)) {
                    throw ex;
                }
            }
        }
    }

    /** Whether a transaction was rolled back for the sake of a concurrent one before any work was done in it. */
    private static boolean canBeRepeated(@Nullable ClaimOutcome outcome, Throwable failure) {
        return (outcome == null || outcome.claimed().isEmpty())
                && StoreExceptionTranslator.isSerializationFailure(failure);
    }

    private static void takeBackIfCommitted(@Nullable ClaimOutcome outcome, Throwable failure) {
        try {
            if (outcome != null) {
                outcome.takeBackIfCommitted();
            }
        } catch (RuntimeException ex) {
            failure.addSuppressed(ex);
        }
    }

    private static <T extends @Nullable Object> T inContext(MessageId id, Supplier<? extends T> work) {
        IdempotencyContext.Scope context = IdempotencyContext.open(List.of(id));
        try {
            return work.get();
        } finally {
            context.close();
        }
    }

    private <T extends @Nullable Object> Execution<T> execute(
            MessageId id,
            ConsumerObserver observer,
            Supplier<? extends T> work,
            Keeping<T> keeping,
            Supplier<? extends T> before,
            AtomicReference<@Nullable ClaimOutcome> found) {
        return this.transaction.execute(id, status -> {
            ClaimOutcome outcome = claim(List.of(id), observer);
            found.set(outcome);
            if (outcome.claimed().isEmpty()) {
                return new Execution<>(id, true, before.get());
            }
            T result = work.get();
            try {
                result = keeping.keep(result);
            } catch (RuntimeException ex) {
                if (StoreExceptionTranslator.isOfAbortedTransaction(ex)) {
                    outcome.requireCommittable();
                }
                throw ex;
            }
            TransactionSynchronizationManager.registerSynchronization(outcome.guard());
            return new Execution<>(id, false, result);
        });
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
        requireIds(ids);
        Map<String, Set<MessageId>> byConsumer = ids.stream()
                .collect(Collectors.groupingBy(
                        MessageId::consumer, TreeMap::new, Collectors.toCollection(LinkedHashSet::new)));
        byConsumer.keySet().forEach(this.consumers::observerOf);
        this.transaction.require();
        Set<MessageId> free = new LinkedHashSet<>(ids);
        boolean one = free.size() == 1;
        try {
            byConsumer.forEach((consumer, its) -> {
                ClaimOutcome outcome = claim(List.copyOf(its), this.consumers.observerOf(consumer));
                TransactionSynchronizationManager.registerSynchronization(outcome.guard());
                its.removeAll(Set.copyOf(outcome.claimed()));
                free.removeAll(its);
            });
        } catch (ClaimTimeoutException ex) {
            // A single id that is held elsewhere leaves nothing behind: its statement was all there was.
            if (!one || !goesOn(free)) {
                TransactionSynchronizationManager.registerSynchronization(new FailedClaim(ex));
            }
            throw ex;
        }
        return free;
    }

    /** Whether the database goes on with a transaction in which a statement has failed, and does not undo it unseen. */
    private boolean goesOn(Set<MessageId> ids) {
        try {
            this.store.find(ids);
            return true;
        } catch (RuntimeException ex) {
            return false;
        }
    }

    private static void requireIds(Collection<MessageId> ids) {
        int index = 0;
        for (MessageId id : ids) {
            if (id == null) {
                throw new IllegalArgumentException(
                        "There is no id to claim at index %d: it is null. Make one with MessageId.of(consumer, key)."
                                .formatted(index));
            }
            index++;
        }
    }

    /** Claims ids of one consumer in the current transaction, and has its observer told what becomes of them. */
    private ClaimOutcome claim(List<MessageId> ids, ConsumerObserver observer) {
        long start = System.nanoTime();
        ClaimOutcome outcome;
        boolean answered = false;
        try {
            Set<MessageId> claimed = this.store.claim(
                    ids.stream().map(id -> new Claim(id, ClaimOutcome.NOWHERE)).toList());
            answered = true;
            observer.claimAnswered(claimed.size(), ids.size() - claimed.size(), System.nanoTime() - start);
            List<Duplicate> duplicates =
                    duplicates(ids.stream().filter(id -> !claimed.contains(id)).toList());
            List<MessageId> own = ids.stream().filter(claimed::contains).toList();
            outcome = new ClaimOutcome(this.store, observer, own, duplicates);
        } catch (UnprotectedListenerException ex) {
            throw this.transaction.otherDataSource(ex);
        } catch (RuntimeException ex) {
            observer.claimFailed(ex, System.nanoTime() - start);
            RuntimeException failure = translate(ids.get(0), ex);
            if (answered || !(failure instanceof ClaimTimeoutException)) {
                TransactionSynchronizationManager.registerSynchronization(new FailedClaim(failure));
            }
            throw failure;
        }
        TransactionSynchronizationManager.registerSynchronization(outcome);
        return outcome;
    }

    private List<Duplicate> duplicates(List<MessageId> ids) {
        Map<MessageId, ProcessedMessage> originals = ids.isEmpty() ? Map.of() : this.store.findOriginals(ids);
        return ids.stream()
                .map(id -> {
                    ProcessedMessage original = originals.get(id);
                    return new Duplicate(
                            id,
                            ClaimOutcome.NOWHERE,
                            DuplicateKind.REPUBLICATION,
                            (original != null) ? original.processedAt() : null,
                            (original != null) ? original.age() : null);
                })
                .toList();
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
}
