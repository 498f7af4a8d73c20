package dev.idempotency.job;

import java.util.Locale;

/** The state of a redrive of dead letters, or of a reconciliation. */
public enum JobState {
    RUNNING,
    COMPLETED,
    CANCELLED,
    FAILED;

    /** Its name in reports. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
