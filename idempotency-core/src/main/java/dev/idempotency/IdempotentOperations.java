package dev.idempotency;

import java.util.Collection;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;

/**
 * Claims for code other than Kafka listeners: a controller with an idempotency key, a
 * scheduled job, a listener of another broker. A bean, to be injected.
 *
 * <p>Ids belong to a consumer that the application has declared as a bean of type {@link IdempotentConsumer}. As for
 * listeners, an id is recorded in the transaction of the work: both are committed, or neither is.
 *
 * <p>What all methods throw: {@link IdempotencyConfigurationException} for a consumer that is not declared,
 * {@link ClaimTimeoutException} if another transaction holds the same id for longer than
 * {@code idempotency.claim.timeout} (a controller answers it with 409), {@link UnprotectedCallException} if the claim
 * would not be part of a transaction of the store's {@code DataSource}, or if a transaction of another {@code DataSource} is
 * open and none of the store's.
 */
public interface IdempotentOperations {

    /**
     * Claims an id and does the work, in the open transaction or in a new one. For a duplicate the work is not
     * done; if the first one is still at work, it waits until that has ended. After a commit, as in a
     * {@code @TransactionalEventListener}, it is refused.
     *
     * <p>If the work throws, nothing stays claimed: a transaction that was open is marked to be rolled back.
     *
     * @throws TransactionLostException if the database has ended the transaction, as after an error that the work caught
     */
    Execution<@Nullable Void> execute(MessageId id, Runnable work);

    /**
     * The same for work with a result, which is kept in the same transaction and given again to duplicates.
     *
     * <p>The result is kept as JSON. The first caller, too, gets what was read back from it, so that all callers get the same.
     *
     * @param type the result's type: the same for every execution of this id
     * @throws IllegalArgumentException if nothing can be read as that type, or it is completed later, such as a future
     * @throws ResultException if the result cannot be kept, and so the work is undone; or, for a duplicate, if it cannot
     *     be given again
     * @throws ResultForgottenException for a duplicate whose result is not, or no longer, kept
     */
    <T extends @Nullable Object> Execution<T> execute(MessageId id, Class<T> type, Supplier<? extends T> work);

    /** The same for a result of a generic type, such as {@code new ParameterizedTypeReference<List<Receipt>>() {}}. */
    <T extends @Nullable Object> Execution<T> execute(
            MessageId id, ParameterizedTypeReference<T> type, Supplier<? extends T> work);

    /**
     * The same for a request with a fingerprint, such as its body.
     *
     * @throws MessageConflictException if the id was claimed before with another fingerprint (a controller answers 422)
     */
    <T extends @Nullable Object> Execution<T> execute(
            MessageId id, String fingerprint, Class<T> type, Supplier<? extends T> work);

    /** The same without a result. */
    Execution<@Nullable Void> execute(MessageId id, String fingerprint, Runnable work);

    /**
     * Claims an id in the open transaction.
     *
     * @return whether it was free; if it was not, it has been claimed before
     */
    boolean claim(MessageId id);

    /**
     * Claims ids in the open transaction: all ids of a consumer with one statement, where the database can.
     *
     * <p>All of them or none: after a failure the transaction is marked rollback-only.
     *
     * @return those that were free, in the order given
     */
    Set<MessageId> claimAll(Collection<MessageId> ids);

    /**
     * Locks a business key, such as {@code customer/42}, until the end of the open transaction: listeners and code that name the
     * same key run one after the other. Lock before you read what the lock protects, and claim before you lock.
     *
     * @throws LockTimeoutException if others hold it for longer than {@code idempotency.lock.timeout}
     * @throws IllegalStateException if no transaction of the store's {@code DataSource} is open, or one that is
     *     {@code REPEATABLE_READ} or {@code SERIALIZABLE}
     */
    void lock(String key);
}
