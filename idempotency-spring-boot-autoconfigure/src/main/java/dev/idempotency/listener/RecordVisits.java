package dev.idempotency.listener;

import dev.idempotency.BatchRolledBackException;
import dev.idempotency.RecordCoordinates;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * The visits of records that share a transaction: told how that ended, the last one first, as what an interceptor has opened
 * for one record within that of another is to be closed in the opposite order.
 */
final class RecordVisits implements TransactionSynchronization, OutcomeScope {

    private final List<RecordVisit<?, ?>> visits = new ArrayList<>();
    private final Map<RecordCoordinates, RecordVisit<?, ?>> byMessage = new HashMap<>();
    private @Nullable Throwable failureOfLast;
    private boolean committed;

    void add(RecordVisit<?, ?> visit) {
        this.visits.add(visit);
    }

    /** The last one is that of a message, which is known by these coordinates. */
    void identifyLast(RecordCoordinates message) {
        this.byMessage.put(message, this.visits.get(this.visits.size() - 1));
    }

    @Override
    public void within(RecordCoordinates message, Runnable news) {
        RecordVisit<?, ?> visit = this.byMessage.get(message);
        if (visit != null) {
            visit.around(news);
        } else {
            news.run();
        }
    }

    @Override
    public void withinFailed(Runnable news) {
        if (haveFailed() && !this.visits.isEmpty()) {
            this.visits.get(this.visits.size() - 1).around(news);
        } else {
            news.run();
        }
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

    /** They are not told before {@link #end()}, so that outcomes can be told within them. */
    @Override
    public void afterCompletion(int status) {
        this.committed = status == STATUS_COMMITTED;
    }

    /** The transaction has ended as its completion said, and all has been told that is to be. */
    void end() {
        end(this.committed, this.failureOfLast);
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
        this.byMessage.clear();
        this.failureOfLast = null;
        this.committed = false;
    }

    /** As containers tell interceptors of errors. */
    static Exception asException(Throwable failure) {
        return (failure instanceof Exception exception)
                ? exception
                : new ListenerExecutionFailedException("Listener threw an error: " + failure, failure);
    }
}
