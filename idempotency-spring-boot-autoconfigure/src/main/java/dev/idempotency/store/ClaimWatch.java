package dev.idempotency.store;

import java.util.function.BooleanSupplier;

/** Watches a transaction in which messages were claimed. Asked before its commit, once: whether the database still holds it. */
@FunctionalInterface
public interface ClaimWatch extends BooleanSupplier {

    /**
     * Called after the transaction has failed and ended. What was done at its beginning may be committed nevertheless: MariaDB,
     * MySQL and H2 commit a transaction before statements such as {@code truncate}, and when a procedure begins another one.
     *
     * @param claims takes back the claims of the transaction, if so, in the current one
     * @return whether it was so; by default, that it is not known to have been
     */
    default boolean takeBackIfCommitted(Runnable claims) {
        return false;
    }
}
