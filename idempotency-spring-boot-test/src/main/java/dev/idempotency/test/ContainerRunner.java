package dev.idempotency.test;

import dev.idempotency.test.ContainerRun.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/** Runs containers like the application's, with records from the test kit's log. */
final class ContainerRunner {

    private final RecordLog log;
    private final Duration timeout;

    ContainerRunner(RecordLog log, Duration timeout) {
        this.log = log;
        this.timeout = timeout;
    }

    RecordLog log() {
        return this.log;
    }

    /** Delivers the records to this many containers at the same time. */
    void run(
            AbstractMessageListenerContainer<?, ?> original,
            TestedConsumer consumer,
            List<LoggedRecord> records,
            int containers,
            Fault fault) {
        CountDownLatch together = new CountDownLatch(containers);
        List<ContainerRun> runs = new ArrayList<>();
        try {
            for (int i = 0; i < containers; i++) {
                runs.add(new ContainerRun(original, consumer, records, fault, together));
            }
            long deadline = System.nanoTime() + this.timeout.toNanos();
            runs.forEach(ContainerRun::start);
            for (ContainerRun run : runs) {
                run.awaitDone(deadline, this.timeout);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while a delivery to %s went on".formatted(consumer), ex);
        } finally {
            runs.forEach(ContainerRun::close);
        }
    }
}
