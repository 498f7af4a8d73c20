package dev.idempotency.internal.kafka;

import org.springframework.context.SmartLifecycle;

/** Starts before any container, and stops after all of them. */
public abstract class EarlyLifecycle implements SmartLifecycle {

    private volatile boolean running;

    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }

    @Override
    public void start() {
        this.running = true;
    }

    @Override
    public void stop() {
        this.running = false;
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }
}
