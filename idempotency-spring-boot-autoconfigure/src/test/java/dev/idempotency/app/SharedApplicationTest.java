package dev.idempotency.app;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;

/** Tests that share one application, with a topic and a group for each kind of listener: {@code <kind>${suffix}}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class SharedApplicationTest {

    private final String suffix = TestKafka.uniqueName("");

    protected TestDatabase database;
    protected TestApplication app;

    /** Starts the application; {@code properties} are of the form {@code name=value}. */
    protected void start(Class<?> listeners, String... properties) {
        start(Arrays.asList(properties), listeners);
    }

    protected void start(List<String> properties, Class<?>... classes) {
        List<String> all = new ArrayList<>(properties);
        all.add("suffix=" + this.suffix);
        this.database = TestPostgres.createDatabase();
        this.app = TestApplication.start(this.database, all, classes);
    }

    /** Creates the topics of these kinds, before the application starts. */
    protected void createTopics(int partitions, String... kinds) {
        TestKafka.createTopics(partitions, Arrays.stream(kinds).map(this::topic).toArray(String[]::new));
    }

    /** Deletes the topic of a kind, whose group has committed something and has no members any more, and creates it anew. */
    protected void recreateTopic(String kind) {
        String topic = topic(kind);
        persistently(
                () -> TestKafka.sharedAdmin().deleteTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS));
        // The broker answers first, and then removes what stood there and, at last, what groups have committed of it.
        Awaitility.await("nothing committed of " + topic)
                .atMost(Duration.ofSeconds(60))
                .until(() -> TestApplication.committedOffsets(topic, topic).isEmpty());
        persistently(() -> TestKafka.sharedAdmin()
                .createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
                .all()
                .get(30, TimeUnit.SECONDS));
    }

    private static void persistently(Callable<?> attempt) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
            attempt.call();
            return true;
        });
    }

    /** Lets the broker refuse what is larger, such as dead letters, from now on. */
    protected static void limitMessageSize(String topic, String bytes) throws Exception {
        configure(topic, "max.message.bytes", bytes);
        // The broker tells of a change just before it acts on it, and of the next one only when it has done so.
        configure(topic, "file.delete.delay.ms", bytes);
    }

    /** Changes how a topic is configured, and waits until its broker has heard of it: the controller answers before. */
    private static void configure(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        TestKafka.sharedAdmin()
                .incrementalAlterConfigs(Map.of(resource, List.of(change)))
                .all()
                .get(30, TimeUnit.SECONDS);
        Awaitility.await(name + " of " + topic)
                .atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> value.equals(TestKafka.sharedAdmin()
                        .describeConfigs(List.of(resource))
                        .all()
                        .get(30, TimeUnit.SECONDS)
                        .get(resource)
                        .get(name)
                        .value()));
    }

    @AfterAll
    void stop() {
        this.app.close();
        this.database.close();
    }

    protected String topic(String kind) {
        return kind + this.suffix;
    }

    /** Sends messages that are their own ids. */
    protected void send(String kind, String... payloads) {
        for (String payload : payloads) {
            this.app.send(topic(kind), payload, payload);
        }
    }

    protected void awaitCaughtUp(String kind) {
        this.app.awaitCaughtUp(topic(kind), topic(kind));
    }

    /** The effects whose names begin with the kind. */
    protected List<String> effectsOf(String kind) {
        return this.app.bean(Effects.class).all().stream()
                .filter(effect -> effect.startsWith(kind + " "))
                .toList();
    }
}
