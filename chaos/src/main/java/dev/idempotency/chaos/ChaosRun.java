package dev.idempotency.chaos;

import dev.idempotency.chaos.check.Checker;
import dev.idempotency.chaos.check.Topics;
import dev.idempotency.chaos.check.Verdict;
import dev.idempotency.chaos.consumer.ConsumerApplication;
import dev.idempotency.chaos.consumer.Sabotage;
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
import org.apache.kafka.common.TopicPartition;
import org.springframework.util.FileSystemUtils;

/** A run: messages and faults at the same time, then no more faults until all messages are consumed, then the check. */
final class ChaosRun {

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** The maximum time without progress after the last fault. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /** Enough messages for every consumer to show that it is working. */
    private static final int PROBES = 50;

    private final Options options;
    private final Consumer<String> progress;
    private final Path directory;
    private int faults;

    /** The number of messages that may have been sent so far. */
    private volatile long allowed;

    ChaosRun(Options options, Consumer<String> progress) {
        this.options = options;
        this.progress = progress;
        this.directory = options.results().resolve("seed-" + options.seed());
        this.allowed = shareOfMessages(0);
    }

    Report run() throws Exception {
        FileSystemUtils.deleteRecursively(this.directory);
        Files.createDirectories(this.directory);
        try (Servers servers = Servers.start();
                PrintWriter log = new PrintWriter(Files.newBufferedWriter(this.directory.resolve("faults.log")));
                EffectsWatch effects = EffectsWatch.start(servers);
                MessageSource source = new MessageSource(
                        servers.bootstrapServers(), servers.partitions(), this.options.seed(), this.options.ring())) {
            List<ConsumerProcess> consumers = new ArrayList<>();
            for (int i = 1; i <= this.options.processes(); i++) {
                consumers.add(new ConsumerProcess(
                        "consumer-" + i, servers, this.options.sabotage(), this.options.profiles(), this.directory));
            }
            FaultInjector injector =
                    new FaultInjector(servers, consumers, this.options.only(), this.options.seed(), log);
            long start = System.nanoTime();
            consumers.forEach(ConsumerProcess::start);
            Map<TopicPartition, Long> ends;
            try {
                effects.awaitFirst(source);
                disturb(source, injector, effects, servers);
                injector.heal();
                source.finish();
                ends = awaitCaughtUp(servers);
            } finally {
                for (ConsumerProcess consumer : consumers) {
                    consumer.resume();
                    consumer.stop();
                }
            }
            requireEmptiedSlots(servers);
            Report report = report(servers, ends, source, injector, effects, consumers, System.nanoTime() - start);
            report.write(this.directory);
            if (report.isClean()) {
                deleteLogs();
            } else {
                servers.keepTables(this.directory);
            }
            return report;
        }
    }

    private void requireEmptiedSlots(Servers servers) {
        Integer emptied = servers.jdbc().queryForObject("select count(*) from emptied", Integer.class);
        this.progress.accept("%,d slots emptied".formatted(emptied));
        if (this.options.ring() && emptied == 0) {
            throw new IllegalStateException("No slot was emptied: see the logs of the consumers");
        }
    }

    /** Sends messages and injects faults in step, so that faults happen while messages are sent. */
    private void disturb(MessageSource source, FaultInjector injector, EffectsWatch effects, Servers servers)
            throws InterruptedException, ExecutionException {
        Thread sender = new Thread(() -> send(source), "messages");
        sender.start();
        while (this.faults < this.options.faults()) {
            if (isSabotaged()) {
                awaitAtWork(source, servers);
            }
            this.faults++;
            this.allowed = shareOfMessages(this.faults);
            awaitSent(source, isSabotaged() ? this.allowed : shareOfMessages(this.faults - 1));
            this.progress.accept("fault %d of %d: %s; %,d messages sent, %,d effects, rolled back or not"
                    .formatted(
                            this.faults,
                            this.options.faults(),
                            injector.injectNext(),
                            source.messages().size(),
                            effects.count()));
            Thread.sleep(300);
        }
        sender.join();
    }

    private boolean isSabotaged() {
        return this.options.sabotage() != Sabotage.NONE;
    }

    /**
     * Sends a few messages and waits until every consumer has processed them, however long a restart takes: a fault reveals
     * the sabotage only if it hits consumers at work.
     */
    private void awaitAtWork(MessageSource source, Servers servers) throws InterruptedException, ExecutionException {
        this.allowed = Math.min(shareOfMessages(this.faults) + PROBES, this.options.messages());
        awaitSent(source, this.allowed);
        awaitCaughtUp(servers);
    }

    private static void awaitSent(MessageSource source, long messages) throws InterruptedException {
        while (source.messages().size() < messages) {
            Thread.sleep(20);
        }
    }

    /** Sends at the given rate, whatever the broker does; time spent on waiting for consumers does not count. */
    private void send(MessageSource source) {
        long start = System.nanoTime();
        long before = 0;
        while (source.messages().size() < this.options.messages()) {
            long sent = source.messages().size();
            if (isSabotaged() && sent >= this.allowed) {
                start = System.nanoTime();
                before = sent;
            }
            long due = before + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) * this.options.rate() / 1_000;
            if (sent < Math.min(due, this.allowed)) {
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

    /** The number of messages that may have been sent after this many faults. */
    private long shareOfMessages(int faults) {
        return (this.options.faults() > 0)
                ? (long) this.options.messages() * faults / this.options.faults()
                : this.options.messages();
    }

    /** Returns the end offsets when all records were consumed; replays may add more. */
    private Map<TopicPartition, Long> awaitCaughtUp(Servers servers) throws InterruptedException, ExecutionException {
        Topics topics = new Topics(servers.bootstrapServers());
        long lastProgress = System.nanoTime();
        long least = Long.MAX_VALUE;
        Topics.Progress progress;
        do {
            Thread.sleep(BETWEEN_LOOKS.toMillis());
            progress = topics.progress(ConsumerApplication.TOPIC, servers.partitions(), this.options.listeners());
            this.progress.accept("%,d records to go".formatted(progress.lag()));
            if (progress.lag() < least) {
                least = progress.lag();
                lastProgress = System.nanoTime();
            }
        } while (progress.lag() > 0 && System.nanoTime() - lastProgress < PATIENCE.toNanos());
        if (progress.lag() > 0) {
            this.progress.accept("Stopped waiting: unconsumed messages count as lost");
        }
        return progress.ends();
    }

    private Report report(
            Servers servers,
            Map<TopicPartition, Long> ends,
            MessageSource source,
            FaultInjector injector,
            EffectsWatch effects,
            List<ConsumerProcess> consumers,
            long nanos)
            throws IOException {
        Map<String, Map<String, Long>> meters = new TreeMap<>();
        List<StepLine> calls = new ArrayList<>();
        for (ConsumerProcess consumer : consumers) {
            meters.putAll(consumer.counts());
            calls.addAll(consumer.calls());
        }
        Topics topics = new Topics(servers.bootstrapServers());
        Checker checker = new Checker(
                source.messages(),
                topics.records(ConsumerApplication.TOPIC, ends),
                servers.jdbc(),
                topics.deadLetters(
                        List.of(ConsumerApplication.DEAD_LETTERS, ConsumerApplication.OWN_DEAD_LETTERS), ends),
                meters,
                calls,
                topics.unknownOutcomes(ConsumerApplication.DEAD_LETTERS));
        List<Verdict> verdicts =
                this.options.listeners().stream().map(checker::check).toList();
        return new Report(
                this.options,
                injector.injected(),
                source.messages().size(),
                source.duplicates(),
                Duration.ofNanos(nanos),
                effects.longestPause(),
                verdicts,
                calls.isEmpty() ? null : checker.stepSummary());
    }

    /** Deletes the logs of a successful run. */
    private void deleteLogs() throws IOException {
        try (var files = Files.list(this.directory)) {
            for (Path file : files.filter(each -> each.toString().matches(".*\\.(log|counts|calls)"))
                    .toList()) {
                Files.delete(file);
            }
        }
    }
}
