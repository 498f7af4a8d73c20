package dev.idempotency.listener;

import dev.idempotency.BatchRolledBackException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * The visits of records that share a transaction: told how that ended, the last one first, as what an interceptor has opened
 * for one record within that of another is to be closed in the opposite order.
 */
final class RecordVisits implements TransactionSynchronization {

    private final List<RecordVisit<?, ?>> visits = new ArrayList<>();
    private @Nullable Throwable failureOfLast;

    void add(RecordVisit<?, ?> visit) {
        this.visits.add(visit);
    }

    int count() {
        return this.visits.size();
    }

    /** The last one has failed, and with it all will be rolled back. */
    void failAtLast(Throwable failure) {
        this.failureOfLast = failure;
    }

    boolean haveFailed() {
        return this.failureOfLast != null;
    }

    @Override
    public void afterCompletion(int status) {
        end(status == STATUS_COMMITTED, this.failureOfLast);
    }

    /**
     * The transaction has ended.
     *
     * @param failure why it was rolled back, if that is known
     */
    void end(boolean committed, @Nullable Throwable failure) {
        for (int i = this.visits.size() - 1; i >= 0; i--) {
            RecordVisit<?, ?> visit = this.visits.get(i);
            boolean last = i == this.visits.size() - 1;
            if (committed) {
                visit.succeed();
            } else if (last && this.failureOfLast != null) {
                visit.fail(asException(this.failureOfLast));
            } else {
                visit.fail(new BatchRolledBackException(
                        "The record was rolled back with the others of its poll, and is processed again by itself",
                        failure));
            }
        }
        this.visits.clear();
    }

    /** As containers tell interceptors of errors. */
    static Exception asException(Throwable failure) {
        return (failure instanceof Exception exception)
                ? exception
                : new ListenerExecutionFailedException("Listener threw an error: " + failure, failure);
    }
}
