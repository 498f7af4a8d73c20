package dev.idempotency.event;

import java.time.Duration;

/**
 * A reconciliation that has ended. The bean {@code Reconciliation} has the whole report.
 *
 * @param result {@code completed}, {@code cancelled} or {@code failed}
 * @param missing how many messages it found missing and did not send again
 */
public record Reconciled(String consumer, String result, Duration took, long missing) {

    public boolean isComplete() {
        return this.result.equals("completed");
    }
}
