package dev.idempotency.internal.listener;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.Assert;

/**
 * Holds back what the listener says until its commit, as the message would be lost if that failed. A negative
 * acknowledgment rolls back: of a batch, every record is redelivered, whatever the index. If the listener throws,
 * neither counts.
 */
final class DeferredAcknowledgment implements Acknowledgment {

    private final Acknowledgment delegate;
    private final boolean batch;
    private final Thread consumerThread = Thread.currentThread();

    private int @Nullable [] positions;
    private boolean acknowledged;
    private int acknowledgedIndex = -1;
    private @Nullable Duration nackSleep;
    private boolean ended;

    DeferredAcknowledgment(Acknowledgment delegate, boolean batch) {
        this.delegate = delegate;
        this.batch = batch;
    }

    @Override
    public synchronized void acknowledge() {
        requireRunning();
        this.acknowledged = true;
    }

    @Override
    public synchronized void acknowledge(int index) {
        requireRunning();
        Assert.isTrue(index > this.acknowledgedIndex, () -> "index (%d) must be greater than the previous one (%d)"
                .formatted(index, this.acknowledgedIndex));
        this.acknowledgedIndex = index;
    }

    private void requireRunning() {
        Assert.state(
                !this.ended,
                "The listener has returned, and its transaction is over: call acknowledge() before it returns");
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
        requireRunning();
        Assert.isTrue(!sleep.isNegative(), "sleep cannot be negative");
        this.nackSleep = sleep;
    }

    /** Forgets what was said in an attempt that is over. */
    synchronized void reset() {
        this.positions = null;
        this.acknowledged = false;
        this.acknowledgedIndex = -1;
        this.nackSleep = null;
    }

    /** Whether the listener said that all messages it was called with are done. */
    synchronized boolean isAcknowledged() {
        return this.acknowledged || (this.positions != null && this.acknowledgedIndex == this.positions.length - 1);
    }

    /** The listener has returned or failed: what it says from now on is refused. */
    synchronized void end() {
        this.ended = true;
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
        if (this.nackSleep != null) {
            if (this.batch) {
                this.delegate.nack(0, this.nackSleep);
            } else {
                this.delegate.nack(this.nackSleep);
            }
        } else if (isAcknowledged()) {
            this.delegate.acknowledge();
        }
    }
}
