package dev.idempotency.retention;

/**
 * How much a cleanup may do.
 *
 * @param batchSize rows per transaction
 * @param rowsPerRun rows per run, which then ends even if there are more
 */
public record CleanupLimits(int batchSize, long rowsPerRun) {

    private static final int LARGEST_BATCH = 10_000;

    public CleanupLimits {
        if (batchSize < 1 || batchSize > LARGEST_BATCH) {
            throw new IllegalArgumentException(
                    "idempotency.cleanup.batch-size must be between 1 and %d, so that transactions stay small, but is %d"
                            .formatted(LARGEST_BATCH, batchSize));
        }
        if (rowsPerRun < batchSize) {
            throw new IllegalArgumentException(
                    "idempotency.cleanup.rows-per-run must be at least idempotency.cleanup.batch-size (%d), but is %d"
                            .formatted(batchSize, rowsPerRun));
        }
    }
}
