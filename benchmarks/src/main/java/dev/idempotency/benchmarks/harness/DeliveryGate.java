package dev.idempotency.benchmarks.harness;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets deliveries of a listener's consumer pass during its turn, and blocks them otherwise.
 *
 * <p>The consumer's thread blocks at a delivery until it gets a turn of a number of records. The turn lasts until the first
 * delivery after that many records, so that it includes their polls and offset commits. It does not end within a batch, and
 * so may include some more records.
 */
final class DeliveryGate {

    private final String listener;
    private final BlockingQueue<Turn> turns = new ArrayBlockingQueue<>(1);
    private final BlockingQueue<Turn> finished = new ArrayBlockingQueue<>(1);
    private volatile boolean closed;
    private int total;

    /** Used only by the consumer's thread. */
    private @Nullable Turn current;

    DeliveryGate(String listener) {
        this.listener = listener;
    }

    /** Starts a turn of this many records. */
    void begin(int records) {
        this.turns.add(new Turn(records));
    }

    /** Waits until the turn is over. */
    Measurement await(Duration patience) {
        try {
            Turn turn = this.finished.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (turn == null) {
                throw new IllegalStateException(
                        "The listener %s did not finish its turn within %s".formatted(this.listener, patience));
            }
            if (turn.failure != null) {
                throw new ListenerFailedException(this.listener, turn.failure);
            }
            this.total += turn.done;
            return new Measurement(turn.start, turn.end, Arrays.copyOf(turn.latencies, turn.done));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** Returns the number of records that the consumer has processed in all its turns. */
    int total() {
        return this.total;
    }

    /** Releases the consumer, whose listener is not called again. */
    void close() {
        this.closed = true;
        this.turns.offer(new Turn(0));
    }

    /** Called before each delivery; returns whether to call the listener. */
    boolean delivered() {
        if (this.closed) {
            return false;
        }
        if (this.current != null && this.current.isOver()) {
            this.current.end = System.nanoTime();
            this.finished.add(this.current);
            this.current = null;
        }
        if (this.current == null) {
            this.current = nextTurn();
            this.current.start = System.nanoTime();
        }
        this.current.delivery = System.nanoTime();
        return !this.closed;
    }

    private Turn nextTurn() {
        try {
            return this.turns.take();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** Called after the listener has returned. */
    void done(int records) {
        if (this.current != null && !this.closed) {
            this.current.done(records, System.nanoTime());
        }
    }

    /** Called after the listener has thrown an exception. */
    void failed(Exception exception) {
        if (this.current != null && !this.closed) {
            this.current.failure = exception;
            this.finished.add(this.current);
            this.current = null;
        }
    }

    /** A measurement: written by the consumer's thread, and read by another thread after it was handed over. */
    private static final class Turn {

        private final int records;
        private long[] latencies;
        private int done;
        private long start;
        private long delivery;
        private long end;
        private @Nullable Exception failure;

        Turn(int records) {
            this.records = records;
            this.latencies = new long[records];
        }

        boolean isOver() {
            return this.done >= this.records;
        }

        void done(int count, long now) {
            int before = this.done;
            this.done += count;
            if (this.done > this.latencies.length) {
                this.latencies = Arrays.copyOf(this.latencies, this.done);
            }
            Arrays.fill(this.latencies, before, this.done, now - this.delivery);
        }
    }
}
