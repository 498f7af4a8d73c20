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
    private int called;
    private boolean acknowledged;
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
        this.acknowledged |= index == this.called - 1;
    }

    private void requireRunning() {
        Assert.state(
                !this.ended,
                "The listener has returned, and its transaction is over: call acknowledge() before it returns");
    }

    @Override
    public synchronized void nack(Duration sleep) {
        requireRunning();
        this.nackSleep = sleep;
    }

    @Override
    public void nack(int index, Duration sleep) {
        nack(sleep);
    }

    /** Begins a call with so many messages, perhaps not the first: what was said before counts no more. */
    synchronized void begin(int messages) {
        this.called = messages;
        this.acknowledged = false;
        this.nackSleep = null;
    }

    /** The listener has returned or failed: what it says from now on is refused. */
    synchronized void end() {
        this.ended = true;
    }

    /** Whether the listener said that all messages it was called with are done. */
    synchronized boolean isAcknowledged() {
        return this.acknowledged;
    }

    synchronized boolean isNacked() {
        return this.nackSleep != null;
    }

    synchronized void release() {
        if (this.nackSleep == null) {
            if (this.acknowledged) {
                this.delegate.acknowledge();
            }
        } else if (this.batch) {
            this.delegate.nack(0, this.nackSleep);
        } else {
            this.delegate.nack(this.nackSleep);
        }
    }
}
