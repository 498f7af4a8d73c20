package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.event.IdempotencyEventListener;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Tests whose nested {@link Listener listeners} form one application. Each has its own topic and group, and is started after
 * its messages were sent, so that they arrive in one batch or poll. A message has three attempts.
 */
abstract class ListenersTest extends SharedApplicationTest {

    /** For the method, or the class, of a {@link Listener}. */
    @Retention(RetentionPolicy.RUNTIME)
    @KafkaListener(id = "#{__listener.topic}", topics = "#{__listener.topic}", autoStartup = "false")
    @interface OwnTopic {

        @AliasFor(annotation = KafkaListener.class)
        String batch() default "";

        @AliasFor(annotation = KafkaListener.class)
        String containerFactory() default "#{__listener.container['factory']}";

        @AliasFor(annotation = KafkaListener.class)
        String filter() default "#{__listener.container['filter']}";

        @AliasFor(annotation = KafkaListener.class)
        String errorHandler() default "";

        @AliasFor(annotation = KafkaListener.class)
        String[] properties() default {};
    }

    /** The container of a listener whose method does not specify one. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Container {

        String factory() default "kafkaListenerContainerFactory";

        String filter() default "";
    }

    abstract static class OfRecords extends Listener {

        @OwnTopic
        void on(String payload) {
            obey(payload);
        }
    }

    abstract static class OfBatches extends Listener {

        @OwnTopic(batch = "true")
        void on(List<String> payloads) {
            payloads.forEach(this::obey);
        }
    }

    /** A listener whose effects and calls are recorded by class. */
    @Container
    abstract static class Listener extends HasEffects {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        @Value("${suffix}")
        private String suffix;

        public String getTopic() {
            return name(getClass()) + this.suffix;
        }

        public Map<String, Object> getContainer() {
            Container container = AnnotationUtils.findAnnotation(getClass(), Container.class);
            return AnnotationUtils.getAnnotationAttributes(container);
        }

        List<String> calls() {
            return this.calls;
        }

        void happen(String payload) {
            this.calls.add(payload);
            this.effects.happen(name(getClass()) + " " + payload);
        }

        void happen(List<String> payloads) {
            new ArrayList<>(payloads).forEach(this::happen);
        }

        /** Fails for the payload {@code fails}, and the first time for {@code fails-once} and {@code exhausts-once}. */
        void obey(String payload) {
            happenAndFailOnceAt("fails-once", payload);
            if (payload.equals("exhausts-once") && Collections.frequency(this.calls, payload) == 1) {
                throw new OutOfMemoryError("for the test");
            }
            if (payload.equals("fails")) {
                throw new IllegalStateException(payload);
            }
        }

        /** Records the effect, and fails at the first call with the payload {@code failing}. */
        void happenAndFailOnceAt(String failing, String payload) {
            happen(payload);
            if (payload.equals(failing) && Collections.frequency(this.calls, failing) == 1) {
                throw new IllegalStateException("the first time");
            }
        }
    }

    /** Additional beans, partitions and properties of a test's application. Properties are of the form {@code name=value}. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Application {

        Class<?>[] beans() default {};

        int partitions() default 1;

        String[] properties() default {};
    }

    @BeforeAll
    void startListeners() {
        Application application = getClass().getAnnotation(Application.class);
        List<Class<?>> classes = new ArrayList<>(List.of(Shared.class));
        classes.addAll(Arrays.asList(application.beans()));
        Class<?>[] listeners = Arrays.stream(getClass().getDeclaredClasses())
                .filter(type -> Listener.class.isAssignableFrom(type) && !Modifier.isAbstract(type.getModifiers()))
                .toArray(Class<?>[]::new);
        classes.addAll(Arrays.asList(listeners));
        createTopics(
                application.partitions(),
                Arrays.stream(listeners).map(ListenersTest::name).toArray(String[]::new));
        List<String> all =
                new ArrayList<>(List.of("idempotency.cleanup.enabled=false", "idempotency.errors.max-attempts=3"));
        all.addAll(Arrays.asList(application.properties()));
        start(all, classes.toArray(Class<?>[]::new));
    }

    @AfterEach
    void stopListeners() {
        registry().getListenerContainers().forEach(MessageListenerContainer::stop);
    }

    private KafkaListenerEndpointRegistry registry() {
        return this.app.bean(KafkaListenerEndpointRegistry.class);
    }

    private static String name(Class<?> listener) {
        return listener.getSimpleName().replaceFirst("\\$\\$.*", "");
    }

    String topic(Class<? extends Listener> listener) {
        return topic(name(listener));
    }

    /** Returns the listener with this simple class name. */
    Class<? extends Listener> listener(String name) {
        return Arrays.stream(getClass().getDeclaredClasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow()
                .asSubclass(Listener.class);
    }

    /** Sends messages, written {@code id:payload} or {@code :payload}, and waits until the listener has handled them. */
    void deliver(Class<? extends Listener> listener, String... messages) {
        send(listener, messages);
        startContainers(listener);
        awaitCaughtUp(name(listener));
    }

    /** Includes the containers of its retry topics, whose ids start with the listener's. */
    void startContainers(Class<? extends Listener> listener) {
        registry()
                .getListenerContainersMatching(id -> id.startsWith(topic(listener)))
                .forEach(MessageListenerContainer::start);
    }

    /** Sends messages to the partitions in turn. */
    void send(Class<? extends Listener> listener, String... messages) {
        int partitions = getClass().getAnnotation(Application.class).partitions();
        for (int i = 0; i < messages.length; i++) {
            String[] parts = messages[i].split(":", 2);
            String id = parts[0].isEmpty() ? null : parts[0];
            this.app.send(TestApplication.message(topic(listener), i % partitions, id, parts[1]));
        }
    }

    /** Redelivers all messages of the topic. */
    void deliverAgain(Class<? extends Listener> listener) {
        stopListeners();
        TestApplication.commitBeginning(topic(listener), topic(listener));
        startContainers(listener);
        awaitCaughtUp(name(listener));
    }

    List<String> effects(Class<? extends Listener> listener) {
        return effectsOf(name(listener)).stream()
                .map(effect -> effect.substring(name(listener).length() + 1))
                .toList();
    }

    /** The payloads of dead letters and of records that the application's error handler has recovered. */
    List<String> givenUp(Class<? extends Listener> listener) {
        List<String> all = new ArrayList<>(TopicContents.values(topic(listener) + "-dlt"));
        this.app.bean(Shared.class).recovered.stream()
                .filter(record -> record.topic().equals(topic(listener)))
                .forEach(record -> all.add(String.valueOf(record.value())));
        return all;
    }

    Outcomes outcomes(Class<? extends Listener> listener) {
        return this.app.bean(Shared.class).outcomes.get(topic(listener));
    }

    /** Failures that were passed to the application's error handler. */
    List<Throwable> failures(Class<? extends Listener> listener) {
        return this.app.bean(Shared.class).failures.getOrDefault(topic(listener), List.of());
    }

    /** Delivers messages, separated by blanks, and expects these effects and dead letters. */
    void assertDelivered(String name, String messages, String effects, String givenUp) {
        deliver(listener(name), messages.split(" "));
        assertThat(effects(listener(name))).containsExactly(words(effects));
        assertThat(givenUp(listener(name))).containsExactly(words(givenUp));
    }

    private static String[] words(String text) {
        return (text == null) ? new String[0] : text.split(" ");
    }

    static class Shared {

        private final List<ConsumerRecord<?, ?>> recovered = new CopyOnWriteArrayList<>();
        private final Map<String, List<Throwable>> failures = new ConcurrentHashMap<>();
        private final Map<String, Outcomes> outcomes = new ConcurrentHashMap<>();

        @Bean
        IdempotencyEventListener outcomes() {
            return IdempotencyEventListener.perConsumer(consumer -> this.outcomes
                    .computeIfAbsent(consumer.groupId(), any -> new Outcomes())
                    .forConsumer(consumer));
        }

        /** Schedules the pauses of retry topics. */
        @Bean
        static TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        static ContainerFactory manual(ContainerFactory plain) {
            return plain.with(factory -> factory.getContainerProperties().setAckMode(AckMode.MANUAL));
        }

        /** Uses an error handler of the application, with 20 retries. */
        @Bean
        ContainerFactory handled(ContainerFactory plain) {
            return plain.with(factory -> factory.setCommonErrorHandler(errorHandler(20)));
        }

        DefaultErrorHandler errorHandler(int retries) {
            DefaultErrorHandler handler = new DefaultErrorHandler(
                    (record, failure) -> this.recovered.add(record), new FixedBackOff(0, retries));
            handler.setRetryListeners((record, failure, attempt) -> this.failures
                    .computeIfAbsent(record.topic(), any -> new CopyOnWriteArrayList<>())
                    .add(failure.getCause()));
            return handler;
        }
    }
}
