package dev.idempotency.retention;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says how the cleanup is doing, once whenever that changes. */
final class CleanupLog {

    private static final Logger logger = LoggerFactory.getLogger(Cleanup.class);

    private static final String WELL = "well";
    private static final String BEHIND = "behind";
    private static final int MAX_DEPTH = 100;

    private String state = WELL;

    void cleanedUp(CleanupRun run) {
        logger.debug("{}", run);
        String before = this.state;
        this.state = stateOf(run);
        if (this.state.equals(before)) {
            return;
        }
        if (run.failure() != null) {
            logger.warn(
                    "Old rows could not be removed. Messages are processed as ever, but the tables grow. It is tried"
                            + " again at every interval; said once until it changes.",
                    run.failure());
        } else if (this.state.equals(BEHIND)) {
            logger.warn(
                    "The cleanup does not keep up: it removed {} rows in {} and there are more. Raise"
                            + " idempotency.cleanup.rows-per-run or shorten idempotency.cleanup.interval.",
                    run.deleted(),
                    run.duration());
        } else {
            logger.info("The cleanup is well again and removed {} rows", run.deleted());
        }
    }

    /** Another kind of failure is another state; the same kind with another text, such as a count, is not. */
    private static String stateOf(CleanupRun run) {
        if (run.failure() != null) {
            return innermost(run.failure()).getClass().getName();
        }
        return run.drained() ? WELL : BEHIND;
    }

    /** Causes may go round in a circle. */
    private static Throwable innermost(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause.getCause() != null && depth < MAX_DEPTH; depth++) {
            cause = cause.getCause();
        }
        return cause;
    }
}
