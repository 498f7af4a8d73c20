package dev.idempotency.app;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.kafka.autoconfigure.ConcurrentKafkaListenerContainerFactoryConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Scope;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.KafkaListenerAnnotationBeanPostProcessor.AnnotationEnhancer;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;

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
        List<Class<?>> sources = new ArrayList<>(List.of(classes));
        sources.add(Kinds.class);
        this.database = TestPostgres.createDatabase();
        this.app = TestApplication.start(this.database, all, sources.toArray(Class<?>[]::new));
    }

    static class Kinds {

        @Bean
        static AnnotationEnhancer kinds(Environment environment) {
            return (attributes, element) -> {
                OfKind kind = AnnotatedElementUtils.findMergedAnnotation(element, OfKind.class);
                if (kind != null) {
                    String topic = kind.value() + environment.getProperty("suffix");
                    attributes.putAll(Map.of("id", kind.value(), "topics", new String[] {topic}, "groupId", topic));
                }
                return attributes;
            };
        }

        /** A factory that the application may customize. */
        @Bean
        @Scope("prototype")
        static ContainerFactory plain(
                ConcurrentKafkaListenerContainerFactoryConfigurer configurer,
                ConsumerFactory<Object, Object> consumers) {
            ContainerFactory factory = new ContainerFactory();
            configurer.configure(factory, consumers);
            return factory;
        }
    }

    /** A container factory as Spring Boot configures it. */
    public static final class ContainerFactory extends ConcurrentKafkaListenerContainerFactory<Object, Object> {

        public ContainerFactory with(Consumer<ContainerFactory> change) {
            change.accept(this);
            return this;
        }
    }

    /** Creates the topics of these kinds, before the application starts. */
    protected void createTopics(int partitions, String... kinds) {
        TestKafka.createTopics(partitions, Arrays.stream(kinds).map(this::topic).toArray(String[]::new));
    }

    /** Deletes and recreates the topic of a kind. Its group must have committed offsets and must have no members left. */
    protected void recreateTopic(String kind) {
        String topic = topic(kind);
        persistently(
                () -> TestKafka.sharedAdmin().deleteTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS));
        // The broker responds first, then removes the records and finally the committed offsets.
        Awaitility.await("nothing committed of " + topic)
                .until(() -> TestApplication.committedOffsets(topic, topic).isEmpty());
        persistently(() -> TestKafka.sharedAdmin()
                .createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
                .all()
                .get(30, TimeUnit.SECONDS));
    }

    private static void persistently(Callable<?> attempt) {
        Awaitility.await().ignoreExceptions().until(() -> {
            attempt.call();
            return true;
        });
    }

    /** Makes the broker reject larger records, such as dead letters, from now on. */
    protected static void limitMessageSize(String topic, String bytes) throws Exception {
        configure(topic, "max.message.bytes", bytes);
        // The broker reports a change just before it applies it, and the next change only after that.
        configure(topic, "file.delete.delay.ms", bytes);
    }

    /** Changes the configuration of a topic, and waits until the broker knows it: the controller responds earlier. */
    private static void configure(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        TestKafka.sharedAdmin()
                .incrementalAlterConfigs(Map.of(resource, List.of(change)))
                .all()
                .get(30, TimeUnit.SECONDS);
        Awaitility.await(name + " of " + topic)
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

    /** Sends messages whose payloads are also their ids. */
    protected void send(String kind, String... payloads) {
        for (String payload : payloads) {
            this.app.send(topic(kind), payload, payload);
        }
    }

    /** Sends a message whose payload is also its id, to a partition, and waits for the broker's acknowledgment. */
    protected void sendTo(String kind, int partition, String payload) {
        this.app.send(TestApplication.message(topic(kind), partition, payload, payload));
    }

    /** The container of the listener with this id; for a listener of a kind, the kind. */
    protected ConcurrentMessageListenerContainer<?, ?> containerOf(String id) {
        return (ConcurrentMessageListenerContainer<?, ?>) Objects.requireNonNull(
                this.app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(id));
    }

    protected void awaitCaughtUp(String kind) {
        this.app.awaitCaughtUp(topic(kind), topic(kind));
    }

    /** Asserts the effects of a kind, after all of its messages have been consumed. */
    protected void assertEffects(String kind, String... effects) {
        awaitCaughtUp(kind);
        Assertions.assertThat(effectsOf(kind)).containsExactly(effects);
    }

    /** The effects whose names begin with the kind. */
    protected List<String> effectsOf(String kind) {
        return this.app.bean(Effects.class).all().stream()
                .filter(effect -> effect.startsWith(kind + " "))
                .toList();
    }
}
