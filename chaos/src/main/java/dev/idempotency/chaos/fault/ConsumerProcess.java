package dev.idempotency.chaos.fault;

import dev.idempotency.chaos.StepLine;
import dev.idempotency.chaos.consumer.ConsumerApplication;
import dev.idempotency.chaos.consumer.Sabotage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One of the consuming JVMs. Each start is an instance with a unique name, which its effects include. */
public final class ConsumerProcess {

    private static final int STOP_SECONDS = 60;

    private final String name;
    private final Servers servers;
    private final Sabotage sabotage;
    private final List<String> listeners;
    private final Path directory;
    private final List<String> instances = new ArrayList<>();
    private @Nullable Process process;

    public ConsumerProcess(String name, Servers servers, Sabotage sabotage, List<String> listeners, Path directory) {
        this.name = name;
        this.servers = servers;
        this.sabotage = sabotage;
        this.listeners = listeners;
        this.directory = directory;
    }

    public String name() {
        return this.name;
    }

    public synchronized void start() {
        String instance = this.name + "-" + (this.instances.size() + 1);
        this.instances.add(instance);
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx320m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                ConsumerApplication.class.getName(),
                instance,
                this.servers.consumersJdbcUrl(instance),
                this.servers.bootstrapServers(),
                this.sabotage.name(),
                String.join(",", this.listeners),
                countsOf(instance).toString());
        try {
            Process started = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(this.directory.resolve(instance + ".log").toFile())
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
            this.process = started;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    public synchronized boolean isAlive() {
        return this.process != null && this.process.isAlive();
    }

    /** Kills the process, like {@code kill -9}. */
    public synchronized void kill() {
        if (this.process != null) {
            this.process.destroyForcibly().onExit().join();
        }
    }

    /** Suspends the process, with its connections and transactions, until {@link #resume}. */
    public void suspend() {
        signal("STOP");
    }

    public void resume() {
        signal("CONT");
    }

    /** Stops the process in an orderly way, or kills it if that fails. */
    public synchronized void stop() throws InterruptedException {
        if (this.process != null) {
            this.process.destroy();
            if (!this.process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                kill();
            }
        }
    }

    /** Returns the processed counts of the instances that had an orderly stop: by instance, then by consumer. */
    public Map<String, Map<String, Long>> counts() throws IOException {
        Map<String, Map<String, Long>> counts = new TreeMap<>();
        for (String instance : this.instances) {
            Path file = countsOf(instance);
            if (Files.exists(file)) {
                Map<String, Long> byConsumer = new TreeMap<>();
                Files.readAllLines(file).stream()
                        .map(line -> line.split("="))
                        .forEach(pair -> byConsumer.put(pair[0], Long.parseLong(pair[1])));
                counts.put(instance, byConsumer);
            }
        }
        return counts;
    }

    /** Returns the calls that the instances made in steps. */
    public List<StepLine> calls() throws IOException {
        List<StepLine> calls = new ArrayList<>();
        for (String instance : this.instances) {
            Path file = this.directory.resolve(instance + ".calls");
            if (Files.exists(file)) {
                Files.readAllLines(file).stream().map(StepLine::parse).forEach(calls::add);
            }
        }
        return calls;
    }

    private Path countsOf(String instance) {
        return this.directory.resolve(instance + ".counts");
    }

    private synchronized void signal(String signal) {
        if (this.process == null) {
            return;
        }
        try {
            new ProcessBuilder("kill", "-" + signal, String.valueOf(this.process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }
}
