package dev.idempotency.retention;

import java.util.List;

/**
 * One kind of rows that a cleanup removes.
 *
 * <p>Define beans of this type to have more cleaned up on the same schedule.
 */
public interface CleanupTask {

    /** A short, constant name, such as {@code processed}, which is also a meter's tag. */
    String name();

    /** Returns the rows that may be removed now. Called once per run. */
    List<Backlog> backlogs();

    /** Rows that are removed in batches, each in a separate transaction. */
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
