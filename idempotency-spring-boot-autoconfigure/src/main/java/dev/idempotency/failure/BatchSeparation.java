package dev.idempotency.failure;

/**
 * Has a batch that failed taken apart: each message in a transaction of its own, in order, up to the first that fails.
 * That one can then be retried and dead-lettered by itself, instead of all that happened to be polled with it.
 */
public final class BatchSeparation {

    private static final ThreadLocal<Boolean> REQUESTED = ThreadLocal.withInitial(() -> false);

    private BatchSeparation() {}

    /** Whether the batch that is being delivered on this thread is to be taken apart. */
    public static boolean isRequested() {
        return REQUESTED.get();
    }

    static void during(Runnable delivery) {
        REQUESTED.set(true);
        try {
            delivery.run();
        } finally {
            REQUESTED.remove();
        }
    }
}
