package dev.idempotency.chaos;

import dev.idempotency.chaos.check.Checker;
import dev.idempotency.chaos.check.Topics;
import dev.idempotency.chaos.check.Verdict;
import dev.idempotency.chaos.consumer.ConsumerApplication;
import dev.idempotency.chaos.fault.ConsumerProcess;
import dev.idempotency.chaos.fault.FaultInjector;
import dev.idempotency.chaos.fault.Servers;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.springframework.util.FileSystemUtils;

/** One run: messages and faults side by side, then calm until everything has been consumed, then the check. */
final class ChaosRun {

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** How long it may take, after the last fault, until everything has been consumed. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Options options;
    private final Consumer<String> progress;
    private final Path directory;

    ChaosRun(Options options, Consumer<String> progress) {
        this.options = options;
        this.progress = progress;
        this.directory = options.results().resolve("seed-" + options.seed());
    }

    Report run() throws Exception {
        FileSystemUtils.deleteRecursively(this.directory);
        Files.createDirectories(this.directory);
        try (Servers servers = Servers.start();
                PrintWriter log = new PrintWriter(Files.newBufferedWriter(this.directory.resolve("faults.log")));
                EffectsWatch effects = EffectsWatch.start(servers);
                MessageSource source =
                        new MessageSource(servers.bootstrapServers(), servers.partitions(), this.options.seed())) {
            List<ConsumerProcess> consumers = new ArrayList<>();
            for (int i = 1; i <= this.options.processes(); i++) {
                consumers.add(new ConsumerProcess("consumer-" + i, servers, this.options.sabotage(), this.directory));
            }
            FaultInjector injector =
                    new FaultInjector(servers, consumers, this.options.only(), this.options.seed(), log);
            long start = System.nanoTime();
            consumers.forEach(ConsumerProcess::start);
            try {
                effects.awaitFirst(source);
                disturb(source, injector, effects);
                injector.heal();
                source.finish();
                awaitCaughtUp(servers);
            } finally {
                for (ConsumerProcess consumer : consumers) {
                    consumer.resume();
                    consumer.stop();
                }
            }
            Report report = report(servers, source, injector, effects, consumers, System.nanoTime() - start);
            report.write(this.directory);
            if (report.isClean()) {
                deleteLogs();
            }
            return report;
        }
    }

    private void disturb(MessageSource source, FaultInjector injector, EffectsWatch effects)
            throws InterruptedException {
        Thread sender = new Thread(() -> send(source), "messages");
        sender.start();
        int faults = 0;
        while (faults < this.options.faults()) {
            faults++;
            this.progress.accept("fault %d of %d: %s; %,d messages sent, %,d effects"
                    .formatted(
                            faults,
                            this.options.faults(),
                            injector.injectNext(),
                            source.messages().size(),
                            effects.count()));
            Thread.sleep(300);
        }
        sender.join();
    }

    /** Keeps to the rate, whatever the broker does. */
    private void send(MessageSource source) {
        long start = System.nanoTime();
        while (source.messages().size() < this.options.messages()) {
            long due = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) * this.options.rate() / 1_000;
            if (source.messages().size() < due) {
                source.sendNext();
            } else {
                try {
                    Thread.sleep(5);
                } catch (InterruptedException ex) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    private void awaitCaughtUp(Servers servers) throws InterruptedException, ExecutionException {
        Topics topics = new Topics(servers.bootstrapServers());
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        long lag;
        do {
            Thread.sleep(BETWEEN_LOOKS.toMillis());
            lag = topics.lag(
                    ConsumerApplication.TOPIC,
                    servers.partitions(),
                    this.options.sabotage().listeners());
            this.progress.accept("%,d records to go".formatted(lag));
        } while (lag > 0 && System.nanoTime() < deadline);
        if (lag > 0) {
            this.progress.accept("Gave up waiting: what is not consumed counts as lost");
        }
    }

    private Report report(
            Servers servers,
            MessageSource source,
            FaultInjector injector,
            EffectsWatch effects,
            List<ConsumerProcess> consumers,
            long nanos)
            throws IOException {
        Map<String, Map<String, Long>> meters = new TreeMap<>();
        for (ConsumerProcess consumer : consumers) {
            meters.putAll(consumer.counts());
        }
        Checker checker = new Checker(
                source.messages(),
                servers.jdbc(),
                new Topics(servers.bootstrapServers())
                        .deadLetters(List.of(ConsumerApplication.DEAD_LETTERS, ConsumerApplication.OWN_DEAD_LETTERS)),
                meters);
        List<Verdict> verdicts =
                this.options.sabotage().listeners().stream().map(checker::check).toList();
        return new Report(
                this.options,
                injector.injected(),
                source.messages().size(),
                source.duplicates(),
                Duration.ofNanos(nanos),
                effects.longestPause(),
                verdicts);
    }

    /** Those of a run that failed are kept. */
    private void deleteLogs() throws IOException {
        try (var files = Files.list(this.directory)) {
            for (Path file : files.filter(each ->
                            each.toString().endsWith(".log") || each.toString().endsWith(".counts"))
                    .toList()) {
                Files.delete(file);
            }
        }
    }
}
