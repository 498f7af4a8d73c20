package dev.idempotency.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.springframework.util.FileSystemUtils;

/** A Kafka broker for one test in a separate process, which can be killed and restarted with its data. */
public final class TestBroker implements AutoCloseable {

    private static final String CONFIGURATION = """
            process.roles=broker,controller
            node.id=1
            controller.quorum.bootstrap.servers=localhost:%1$d
            controller.listener.names=CONTROLLER
            log.dirs=%2$s
            offsets.topic.replication.factor=1
            offsets.topic.num.partitions=4
            transaction.state.log.replication.factor=1
            transaction.state.log.min.isr=1
            group.initial.rebalance.delay.ms=0
            auto.create.topics.enable=%3$s
            """;

    private static final String LISTENERS = """
            listeners=PLAINTEXT://localhost:%d,CONTROLLER://localhost:%d
            advertised.listeners=PLAINTEXT://localhost:%d
            listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
            """;

    private final Path directory;
    private final Path configuration;
    private final int port;
    private final @Nullable BrokerLogin login;
    private @Nullable Process process;

    private TestBroker(Path directory, boolean autoCreateTopics, int advertisedPort, @Nullable BrokerLogin login)
            throws IOException {
        this.directory = directory;
        this.login = login;
        this.port = TestPostgresServer.freePort();
        int controllerPort = TestPostgresServer.freePort();
        String listeners = (login != null)
                ? login.configuration(this.port, controllerPort)
                : LISTENERS.formatted(this.port, controllerPort, (advertisedPort != 0) ? advertisedPort : this.port);
        this.configuration = Files.writeString(
                directory.resolve("server.properties"),
                CONFIGURATION.formatted(controllerPort, directory.resolve("data"), autoCreateTopics) + listeners);
    }

    /** Starts a broker, with or without automatic creation of topics. */
    public static TestBroker start(boolean autoCreateTopics) {
        return start(autoCreateTopics, 0, port -> {});
    }

    /**
     * Starts a broker that advertises the port of a proxy.
     *
     * @param advertisedPort the proxy's port
     * @param proxy called before the start with the port on which the broker will listen
     */
    public static TestBroker startBehindProxy(int advertisedPort, IntConsumer proxy) {
        return start(false, advertisedPort, proxy);
    }

    private static TestBroker start(boolean autoCreateTopics, int advertisedPort, IntConsumer proxy) {
        try {
            Path directory = Files.createTempDirectory("kafka");
            TestBroker broker = new TestBroker(directory, autoCreateTopics, advertisedPort, null);
            proxy.accept(broker.port);
            return broker.startAnew();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Starts a broker with an additional listener that requires encryption and a login: {@link #loginServers()}. */
    public static TestBroker startWithLogin() {
        try {
            Path directory = Files.createTempDirectory("kafka");
            return new TestBroker(directory, false, 0, BrokerLogin.create(directory)).startAnew();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private TestBroker startAnew() {
        format();
        startAgain();
        return this;
    }

    private void format() {
        Process format = java(
                "kafka.tools.StorageTool",
                "format",
                "--standalone",
                "-t",
                Uuid.randomUuid().toString(),
                "-c",
                this.configuration.toString());
        if (format.onExit().join().exitValue() != 0) {
            throw new IllegalStateException("Could not format the broker's storage, see " + log());
        }
    }

    /** Returns the address to connect to. */
    public String bootstrapServers() {
        return "localhost:" + this.port;
    }

    /** Returns the address to connect to with {@code SASL_SSL}. */
    public String loginServers() {
        return "localhost:" + login().port();
    }

    /** Returns the certificate to trust for {@link #loginServers()}, as PEM. */
    public Path certificate() {
        return login().certificate();
    }

    /** Returns the credentials for {@link #loginServers()}. */
    public static String jaasConfiguration() {
        return "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s\";"
                .formatted(BrokerLogin.USER, BrokerLogin.PASSWORD);
    }

    private BrokerLogin login() {
        return Objects.requireNonNull(this.login, "The broker has no login");
    }

    /** An admin client for the broker. */
    public Admin admin() {
        return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers()));
    }

    /** Creates a topic. */
    public void createTopic(String topic, int partitions) {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        } catch (ExecutionException | TimeoutException ex) {
            throw new IllegalStateException("Could not create the topic " + topic + ", see " + log(), ex);
        }
    }

    /** Kills the broker. */
    public void kill() {
        if (this.process != null) {
            this.process.destroyForcibly().onExit().join();
            this.process = null;
        }
    }

    /** Restarts the broker after a kill, with its data. */
    public void startAgain() {
        Process started = java("kafka.Kafka", this.configuration.toString());
        this.process = started;
        Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
        try (Admin admin = admin()) {
            admin.describeCluster(new DescribeClusterOptions().timeoutMs(180_000))
                    .nodes()
                    .get(180, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        } catch (ExecutionException | TimeoutException ex) {
            throw new IllegalStateException("The broker did not start, see " + log(), ex);
        }
    }

    private Process java(String mainClass, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                mainClass));
        command.addAll(List.of(arguments));
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                    .start();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Path log() {
        return this.directory.resolve("broker.log");
    }

    @Override
    public void close() {
        kill();
        try {
            FileSystemUtils.deleteRecursively(this.directory);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
