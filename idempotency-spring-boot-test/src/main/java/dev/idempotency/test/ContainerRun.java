package dev.idempotency.test;

import dev.idempotency.MessageId;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.util.Assert;

/** A run of a container like the application's, from its start with some records until it has handled all of them. */
final class ContainerRun implements AutoCloseable {

    private static final ThreadLocal<@Nullable ContainerRun> CURRENT = new ThreadLocal<>();
    private static final Duration GLANCE = Duration.ofMillis(50);

    private final TestedConsumer consumer;
    private final LogConsumer kafkaConsumer;
    private final ConcurrentMessageListenerContainer<Object, Object> container;
    private final Fault fault;
    private final Set<MessageId> rolledBack = ConcurrentHashMap.newKeySet();
    private final CountDownLatch together;

    /**
     * A fault that is injected on purpose.
     *
     * @param step the step after which the listener's work ends
     */
    record Fault(Kind kind, @Nullable String step) {

        private enum Kind {
            NONE,
            LOST_OFFSETS,
            ROLLBACK
        }

        static final Fault NONE = new Fault(Kind.NONE, null);

        /** Commits of offsets do not reach the broker. */
        static final Fault LOST_OFFSETS = new Fault(Kind.LOST_OFFSETS, null);

        /** Each message's transaction is rolled back once, after the listener's work. */
        static final Fault ROLLBACK = new Fault(Kind.ROLLBACK, null);

        /** Each message's transaction is rolled back once, right after a step. */
        static Fault afterStep(String name) {
            return new Fault(Kind.ROLLBACK, name);
        }
    }

    /**
     * Creates a container that has not been started.
     *
     * @param together how many containers deliver at the same time; each counts down and waits for the others
     */
    ContainerRun(
            AbstractMessageListenerContainer<?, ?> original,
            TestedConsumer consumer,
            List<LoggedRecord> records,
            Fault fault,
            CountDownLatch together) {
        this.consumer = consumer;
        this.fault = fault;
        this.together = together;
        Object max = ListenerContainers.consumerSettings(original).get(ConsumerConfig.MAX_POLL_RECORDS_CONFIG);
        this.kafkaConsumer = new LogConsumer(
                records,
                new RecordReader(original)::read,
                (max != null) ? Integer.parseInt(max.toString()) : ConsumerConfig.DEFAULT_MAX_POLL_RECORDS,
                this);
        this.container = containerLike(original, this.kafkaConsumer);
    }

    /** Creates a container with all settings that the application and the library have made on the original. */
    @SuppressWarnings("unchecked") // The listener matches the types of the deserializers.
    private static ConcurrentMessageListenerContainer<Object, Object> containerLike(
            AbstractMessageListenerContainer<?, ?> given, Consumer<Object, Object> kafkaConsumer) {
        AbstractMessageListenerContainer<Object, Object> original =
                (AbstractMessageListenerContainer<Object, Object>) given;
        ConsumerFactory<Object, Object> factory =
                (ConsumerFactory<Object, Object>) SpringKafkaInternals.consumerFactoryOf(given);
        Assert.state(factory != null, "The container has no consumer factory");
        ConsumerFactory<Object, Object> replacing =
                new DefaultKafkaConsumerFactory<>(
                        factory.getConfigurationProperties(),
                        factory.getKeyDeserializer(),
                        factory.getValueDeserializer()) {

                    @Override
                    public Consumer<Object, Object> createConsumer(
                            @Nullable String groupId,
                            @Nullable String clientIdPrefix,
                            @Nullable String clientIdSuffix,
                            @Nullable Properties properties) {
                        return kafkaConsumer;
                    }
                };
        ConcurrentMessageListenerContainer<Object, Object> container =
                new ConcurrentMessageListenerContainer<>(replacing, original.getContainerProperties());
        container.setBeanName(original.getListenerId());
        container.setCommonErrorHandler(original.getCommonErrorHandler());
        container.setRecordInterceptor(original.getRecordInterceptor());
        container.setBatchInterceptor(original.getBatchInterceptor());
        container.setListenerInfo(original.getListenerInfo());
        if (original.getApplicationEventPublisher() instanceof ApplicationContext context) {
            container.setApplicationContext(context);
            container.setApplicationEventPublisher(context);
        }
        container.getContainerProperties().setMissingTopicsFatal(false);
        return container;
    }

    /** The run whose container uses the current thread, or {@code null}. */
    static @Nullable ContainerRun current() {
        return CURRENT.get();
    }

    TestedConsumer consumer() {
        return this.consumer;
    }

    boolean losesCommits() {
        return this.fault.kind() == Fault.Kind.LOST_OFFSETS;
    }

    boolean rollsBack() {
        return this.fault.kind() == Fault.Kind.ROLLBACK;
    }

    /** The step after which the work of each message is interrupted once, if any. */
    @Nullable
    String crashStep() {
        return this.fault.step();
    }

    void rolledBack(Set<MessageId> messages) {
        this.rolledBack.addAll(messages);
    }

    boolean haveBeenRolledBack(Set<MessageId> messages) {
        return this.rolledBack.containsAll(messages);
    }

    void enter() {
        CURRENT.set(this);
    }

    void leave() {
        CURRENT.remove();
    }

    void awaitOthers() {
        this.together.countDown();
        try {
            // A container that has not arrived by then fails in its own run.
            this.together.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            throw new InterruptException(ex);
        }
    }

    void start() {
        this.container.start();
    }

    /** Waits until the container has handled all records. */
    void awaitDone(long deadlineNanos, Duration timeout) throws InterruptedException {
        while (!this.kafkaConsumer.awaitDone(GLANCE)) {
            if (!this.container.isChildRunning() && !this.kafkaConsumer.awaitDone(Duration.ZERO)) {
                throw new AssertionError(
                        ("The container of %s has stopped before it was done with its records: its error handler has stopped"
                                        + " it, or an Error has ended its thread. See the log; deliver records that do not"
                                        + " stop it, or expect this error.")
                                .formatted(this.consumer));
            }
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new AssertionError(
                        ("%s has not done with its records within %s: it fails and retries (%d failed attempts so far), waits"
                                        + " for the database or for a first message with a key, or hangs. See the log; shorten"
                                        + " the pauses between attempts (idempotency.errors.initial-interval), or set"
                                        + " idempotency.test.timeout.")
                                .formatted(this.consumer, timeout, this.consumer.failures()));
            }
        }
        requireAllRead();
        requireRollback();
    }

    /** A run that delivers no records would look idempotent. */
    private void requireAllRead() {
        Set<TopicPartition> unread = this.kafkaConsumer.unread();
        if (!unread.isEmpty()) {
            throw new AssertionError(
                    ("%s was given none of the records of %s: its container reads other partitions (topicPartitions), begins"
                                    + " behind them (initialOffset), or has been sent behind them (ConsumerSeekAware)."
                                    + " Deliver records of partitions that it reads, as ConsumerRecords if their offsets"
                                    + " matter.")
                            .formatted(this.consumer, unread));
        }
    }

    private void requireRollback() {
        if (rollsBack() && this.rolledBack.isEmpty()) {
            throw new AssertionError(("%s was not called with any of the records, %s, so nothing was rolled"
                            + " back after its work. Deliver messages that are new to its database and succeed.")
                    .formatted(
                            this.consumer,
                            (crashStep() != null)
                                    ? "or has not come to the end of a step '%s'".formatted(crashStep())
                                    : "or failed itself"));
        }
    }

    @Override
    public void close() {
        this.container.stop();
        this.container.destroy();
    }
}
