package dev.idempotency.benchmarks.harness;

import dev.idempotency.testing.TestKafka;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.CommonContainerStoppingErrorHandler;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * A Spring Boot application with all the listeners of a scenario, on one topic, each in a separate group, with a consumer
 * for each partition. A listener runs only during its turn.
 */
public final class BenchmarkApplication implements AutoCloseable {

    private final ConfigurableApplicationContext context;
    private final List<TopicPartition> partitions;
    private final Workload workload;
    private final Admin admin;

    private BenchmarkApplication(
            ConfigurableApplicationContext context, String topic, int partitions, boolean timeOrderedIds) {
        this.context = context;
        this.partitions = IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        this.workload = new Workload(topic, partitions, TestKafka.bootstrapServers(), timeOrderedIds);
        this.admin = TestKafka.admin();
    }

    /** Starts an application with these classes and these additional {@code key=value} properties. */
    public static BenchmarkApplication start(
            BenchmarkDatabase database, List<? extends Class<?>> classes, String... more) {
        return start(database, 1, classes, more);
    }

    /** Starts such an application with this many partitions, and as many consumers per listener. */
    public static BenchmarkApplication start(
            BenchmarkDatabase database, int partitions, List<? extends Class<?>> classes, String... more) {
        String topic = TestKafka.createTopic("benchmark", partitions);
        Map<String, Object> properties = new HashMap<>();
        properties.put("benchmark.topic", topic);
        properties.put("spring.datasource.url", database.jdbcUrl());
        // One for each consumer of the running listener, and some for observers.
        properties.put("spring.datasource.hikari.maximum-pool-size", partitions + 10);
        properties.put("spring.kafka.bootstrap-servers", TestKafka.bootstrapServers());
        properties.put("spring.kafka.consumer.auto-offset-reset", "earliest");
        properties.put("spring.kafka.consumer.max-poll-records", "500");
        properties.put("spring.kafka.listener.auto-startup", "false");
        properties.put("spring.kafka.listener.concurrency", partitions);
        properties.put("idempotency.retention-mode", database.isRing() ? "ring" : "delete");
        // No rows are removed during a measurement.
        properties.put("idempotency.cleanup.enabled", "false");
        properties.put("spring.main.banner-mode", "off");
        properties.put("spring.main.log-startup-info", "false");
        properties.put("logging.level.dev.idempotency", "warn");
        // Otherwise warns of every consumer that gets its partitions while it is paused, as all are at the start.
        properties.put("logging.level." + KafkaMessageListenerContainer.class.getName(), "error");
        List<Class<?>> all = new ArrayList<>(classes);
        all.add(AutoConfigured.class);
        SpringApplicationBuilder builder = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .properties(properties)
                .properties(more);
        return new BenchmarkApplication(builder.run(), topic, partitions, database.isRing());
    }

    public JdbcTemplate jdbc() {
        return bean(JdbcTemplate.class);
    }

    public <T> T bean(Class<T> type) {
        return this.context.getBean(type);
    }

    public <T> List<T> beans(Class<T> type) {
        return this.context.getBeanProvider(type).orderedStream().toList();
    }

    /** Publishes this many new messages to each partition of the topic, for all listeners. */
    public void publish(int messages) {
        this.workload.publish(messages);
    }

    /**
     * Publishes new messages with the ids {@code number-0} and so on, and commits their offsets for the listener's group, which
     * does not read them. Returns the topic.
     */
    public String publishNumberedAndCommit(int messages, String listener) {
        this.workload.publishNumbered(messages);
        moveTo(listener, offsetsBeforeEnd(0));
        return this.workload.topic();
    }

    /** Starts listeners before the last {@code records} of each partition, whether or not they have processed them before. */
    public AlternatingListeners alternate(Collection<String> listeners, int records) {
        jdbc().execute("checkpoint");
        // Like autovacuum within a minute: without statistics, the planner may use the cleanup's index to look up ids.
        jdbc().execute("analyze");
        Map<TopicPartition, OffsetAndMetadata> offsets = offsetsBeforeEnd(records);
        Map<String, ConcurrentMessageListenerContainer<?, ?>> containers = new LinkedHashMap<>();
        for (String listener : listeners) {
            moveTo(listener, offsets);
            containers.put(listener, container(listener));
        }
        return new AlternatingListeners(containers, bean(DeliveryGateInterceptor.class));
    }

    /** Lets a listener consume new records while they are published at a fixed rate. */
    public Measurement consumeAtRate(String listener, int records, int perSecond) {
        try (AlternatingListeners turns = alternate(List.of(listener), 0)) {
            // One more record, whose arrival ends the turn.
            CompletableFuture<Void> published =
                    CompletableFuture.runAsync(() -> this.workload.publish(records + 1, perSecond));
            Measurement measurement = turns.measure(listener, records);
            published.join();
            return measurement;
        }
    }

    private void moveTo(String listener, Map<TopicPartition, OffsetAndMetadata> offsets) {
        String group = Objects.requireNonNull(container(listener).getGroupId());
        get(this.admin.alterConsumerGroupOffsets(group, offsets).all());
    }

    private Map<TopicPartition, OffsetAndMetadata> offsetsBeforeEnd(int records) {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        this.partitions.forEach(partition -> latest.put(partition, OffsetSpec.latest()));
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        get(this.admin.listOffsets(latest).all())
                .forEach((partition, end) -> offsets.put(partition, new OffsetAndMetadata(end.offset() - records)));
        return offsets;
    }

    private ConcurrentMessageListenerContainer<?, ?> container(String listener) {
        MessageListenerContainer container =
                bean(KafkaListenerEndpointRegistry.class).getListenerContainer(listener);
        if (container instanceof ConcurrentMessageListenerContainer<?, ?> concurrent) {
            return concurrent;
        }
        throw new IllegalStateException("There is no listener " + listener);
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get(30, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        } catch (ExecutionException | TimeoutException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void close() {
        this.workload.close();
        this.admin.close();
        this.context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class AutoConfigured {

        @Bean
        DeliveryGateInterceptor deliveryGateInterceptor() {
            return new DeliveryGateInterceptor();
        }

        /** Failed listeners are not retried: their measurement would be meaningless. */
        @Bean
        CommonContainerStoppingErrorHandler errorHandler() {
            return new CommonContainerStoppingErrorHandler();
        }
    }
}
