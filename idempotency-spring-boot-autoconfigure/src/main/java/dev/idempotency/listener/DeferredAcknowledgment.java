package dev.idempotency.listener;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.Assert;

/**
 * Holds back what the listener says until its transaction has been committed.
 *
 * <p>An acknowledgment that took effect earlier would lose the message if the commit failed. A negative one rolls the
 * transaction back, all of it: of a batch, therefore, every record comes again, whatever index was named. If the
 * listener throws, nothing that it said counts.
 */
final class DeferredAcknowledgment implements Acknowledgment {

    private final Acknowledgment delegate;
    private final boolean batch;
    private final Thread consumerThread = Thread.currentThread();

    private int @Nullable [] positions;
    private boolean acknowledged;
    private int acknowledgedIndex = -1;
    private @Nullable Duration nackSleep;
    private boolean released;

    DeferredAcknowledgment(Acknowledgment delegate, boolean batch) {
        this.delegate = delegate;
        this.batch = batch;
    }

    @Override
    public synchronized void acknowledge() {
        if (this.released) {
            this.delegate.acknowledge();
        } else {
            this.acknowledged = true;
        }
    }

    @Override
    public synchronized void acknowledge(int index) {
        Assert.isTrue(index > this.acknowledgedIndex, () -> "index (%d) must be greater than the previous one (%d)"
                .formatted(index, this.acknowledgedIndex));
        if (this.released) {
            this.delegate.acknowledge(position(index));
        }
        this.acknowledgedIndex = index;
    }

    @Override
    public synchronized void nack(Duration sleep) {
        Assert.state(!this.batch, "A batch listener calls nack(index, sleep)");
        rollBackAndSleep(sleep);
    }

    @Override
    public synchronized void nack(int index, Duration sleep) {
        Assert.state(this.batch, "A record listener calls nack(sleep)");
        Assert.isTrue(index >= 0, "index cannot be negative");
        rollBackAndSleep(sleep);
    }

    private void rollBackAndSleep(Duration sleep) {
        Assert.state(Thread.currentThread() == this.consumerThread, "nack() can only be called on the consumer thread");
        Assert.state(!this.released, "nack() can only be called while the listener runs: its work has been committed");
        Assert.isTrue(!sleep.isNegative(), "sleep cannot be negative");
        this.nackSleep = sleep;
    }

    @Override
    public boolean isOutOfOrderCommit() {
        return this.delegate.isOutOfOrderCommit();
    }

    /** Forgets what was said in an attempt that is over. */
    synchronized void reset() {
        this.positions = null;
        this.acknowledged = false;
        this.acknowledgedIndex = -1;
        this.nackSleep = null;
    }

    synchronized boolean isNacked() {
        return this.nackSleep != null;
    }

    /** The listener is called, perhaps not for the first time: what it said before counts no more. */
    synchronized void narrow(int[] positions) {
        reset();
        this.positions = positions;
    }

    synchronized void release() {
        this.released = true;
        if (this.nackSleep != null) {
            if (this.batch) {
                this.delegate.nack(0, this.nackSleep);
            } else {
                this.delegate.nack(this.nackSleep);
            }
        } else if (this.acknowledged) {
            this.delegate.acknowledge();
        } else if (this.acknowledgedIndex >= 0) {
            this.delegate.acknowledge(position(this.acknowledgedIndex));
        }
    }

    private int position(int index) {
        if (this.positions == null) {
            return index;
        }
        Assert.isTrue(index < this.positions.length, () -> "index (%d) is out of range (0-%d)"
                .formatted(index, this.positions.length - 1));
        return this.positions[index];
    }

    @Override
    public String toString() {
        return "Deferred " + this.delegate;
    }
}
