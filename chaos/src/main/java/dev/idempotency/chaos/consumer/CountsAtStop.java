package dev.idempotency.chaos.consumer;

import dev.idempotency.metrics.IdempotencyMeters;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Writes the processed counts of the meters to a file after an orderly stop of the listeners. */
@Component
class CountsAtStop implements SmartLifecycle {

    private final MeterRegistry meters;
    private final Path file;
    private volatile boolean running;

    CountsAtStop(MeterRegistry meters, @Value("${chaos.counts}") Path file) {
        this.meters = meters;
        this.file = file;
    }

    @Override
    public void start() {
        this.running = true;
    }

    /** Called after the containers have stopped, as they have a higher phase. */
    @Override
    public void stop() {
        this.running = false;
        String counts = this.meters.find(IdempotencyMeters.MESSAGES).tag("outcome", "processed").counters().stream()
                .map(counter -> counter.getId().getTag("consumer") + "=" + (long) counter.count())
                .collect(Collectors.joining("\n"));
        try {
            Files.writeString(this.file, counts);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    @Override
    public int getPhase() {
        return 0;
    }
}
