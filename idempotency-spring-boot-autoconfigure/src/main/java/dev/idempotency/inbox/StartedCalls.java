package dev.idempotency.inbox;

import dev.idempotency.ProcessKilledException;
import org.jspecify.annotations.Nullable;

/** The calls of a listener that one delivery leads to, some of which are counted in case they end the process. */
public interface StartedCalls {

    /** Of which none is counted. */
    StartedCalls UNCOUNTED = new StartedCalls() {

        @Override
        public boolean areSuspect() {
            return false;
        }

        @Override
        public void begin(int position) {}

        @Override
        public void end(@Nullable Throwable failure) {}
    };

    /**
     * Whether one of the messages may have ended a process before. Then the listener is called with one message at a time,
     * each of which is counted by itself.
     */
    boolean areSuspect();

    /**
     * The listener is about to be called with one message by itself: counts that, in a transaction of its own.
     *
     * @param position its position in the delivery
     * @throws ProcessKilledException if that has been done often enough; it has been recorded as failed then
     */
    void begin(int position);

    /**
     * All calls have ended, and what they did has been committed or rolled back.
     *
     * @param failure why not all has been processed, or {@code null} if it has
     */
    void end(@Nullable Throwable failure);
}
