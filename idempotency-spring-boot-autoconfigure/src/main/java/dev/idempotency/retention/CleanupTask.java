package dev.idempotency.retention;

import java.util.List;

/**
 * One kind of rows that a cleanup removes.
 *
 * <p>Define beans of this type to have more cleaned up on the same schedule.
 */
public interface CleanupTask {

    /** What it removes, such as {@code processed}: short, constant, fit for a meter's tag. */
    String name();

    /** What there may be to remove now, asked once per run. */
    List<Backlog> backlogs();

    /** Rows that are removed in batches, each batch a transaction of its own. */
    @FunctionalInterface
    interface Backlog {

        /**
         * Removes the oldest rows.
         *
         * @param limit how many at most
         * @return how many; fewer than the limit if there are no more for now
         */
        int remove(int limit);
    }
}
