package dev.idempotency.operation;

import dev.idempotency.Claim;
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
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Claims from code, in transactions of the store's {@code DataSource}. */
public final class TransactionalOperations implements IdempotentOperations, SmartInitializingSingleton {

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
        if (this.results != null && this.consumers.keepResults()) {
            this.results.use();
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
        return executeAndKeep(id, type, work);
    }

    @Override
    public <T extends @Nullable Object> Execution<T> execute(
            MessageId id, ParameterizedTypeReference<T> type, Supplier<? extends T> work) {
        if (isOpen(type.getType())) {
            throw new IllegalArgumentException(
                    ("There is no telling as what a result of type %s is to be read again. Name the type in full where it is"
                                    + " known, and hand it on.")
                            .formatted(type.getType().getTypeName()));
        }
        return executeAndKeep(id, type.getType(), work);
    }

    /** Whether it has a type variable, in place of which nobody would know what to read. */
    private static boolean isOpen(Type type) {
        if (type instanceof ParameterizedType parameterized) {
            return Arrays.stream(parameterized.getActualTypeArguments()).anyMatch(TransactionalOperations::isOpen);
        }
        return (type instanceof GenericArrayType array)
                ? isOpen(array.getGenericComponentType())
                : type instanceof TypeVariable<?>;
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
        ConsumerObserver observer = this.consumers.observerOf(id.consumer());
        return this.transaction.execute(status -> {
            ClaimOutcome outcome = claim(List.of(id), observer);
            if (outcome.claimed().isEmpty()) {
                return new Execution<>(id, true, before.get());
            }
            T result;
            IdempotencyContext.Scope context = IdempotencyContext.open(List.of(id));
            try {
                result = work.get();
            } finally {
                context.close();
            }
            try {
                result = keeping.keep(result);
            } catch (RuntimeException ex) {
                if (StoreExceptionTranslator.isOfAbortedTransaction(ex)) {
                    outcome.requireHeld();
                }
                throw ex;
            }
            TransactionSynchronizationManager.registerSynchronization(outcome.guard());
            return new Execution<>(id, false, result);
        });
    }

    @Override
    public boolean claim(MessageId id) {
        return !claimAll(List.of(id)).isEmpty();
    }

    @Override
    public Set<MessageId> claimAll(Collection<MessageId> ids) {
        Map<String, Set<MessageId>> byConsumer = ids.stream()
                .collect(Collectors.groupingBy(
                        MessageId::consumer, TreeMap::new, Collectors.toCollection(LinkedHashSet::new)));
        byConsumer.keySet().forEach(this.consumers::observerOf);
        this.transaction.require();
        Set<MessageId> free = new LinkedHashSet<>(ids);
        byConsumer.forEach((consumer, its) -> {
            ClaimOutcome outcome = claim(List.copyOf(its), this.consumers.observerOf(consumer));
            TransactionSynchronizationManager.registerSynchronization(outcome.guard());
            its.removeAll(Set.copyOf(outcome.claimed()));
            free.removeAll(its);
        });
        return free;
    }

    /** Claims ids of one consumer in the current transaction, and has its observer told what becomes of them. */
    private ClaimOutcome claim(List<MessageId> ids, ConsumerObserver observer) {
        long start = System.nanoTime();
        Set<MessageId> claimed;
        List<Duplicate> duplicates;
        try {
            claimed = this.store.claim(
                    ids.stream().map(id -> new Claim(id, ClaimOutcome.NOWHERE)).toList());
            observer.claimAnswered(claimed.size(), ids.size() - claimed.size(), System.nanoTime() - start);
            duplicates =
                    duplicates(ids.stream().filter(id -> !claimed.contains(id)).toList());
        } catch (UnprotectedListenerException ex) {
            throw this.transaction.otherDataSource(ex);
        } catch (RuntimeException ex) {
            observer.claimFailed(ex, System.nanoTime() - start);
            throw translate(ids.get(0), ex);
        }
        List<MessageId> own = ids.stream().filter(claimed::contains).toList();
        ClaimOutcome outcome = new ClaimOutcome(this.store, observer, own, duplicates);
        TransactionSynchronizationManager.registerSynchronization(outcome);
        return outcome;
    }

    private List<Duplicate> duplicates(List<MessageId> ids) {
        Map<MessageId, ProcessedMessage> originals = ids.isEmpty() ? Map.of() : this.store.find(ids);
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
                        ("Could not claim %s: %s. Nothing was recorded or applied; try again. See that the database answers,"
                                        + " that the tables of idempotency-spring-boot are there, and that the user of the"
                                        + " DataSource may read and write them.")
                                .formatted(id, failure.getMessage()),
                        failure)
                : translated;
    }
}
