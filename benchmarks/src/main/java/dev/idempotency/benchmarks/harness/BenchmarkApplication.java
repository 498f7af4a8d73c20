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
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * One Spring Boot application with all the listeners of a scenario, on one topic, each in a group of its own. A listener
 * runs only while it is its turn.
 */
public final class BenchmarkApplication implements AutoCloseable {

    private final ConfigurableApplicationContext context;
    private final TopicPartition partition;
    private final Workload workload;
    private final Admin admin;

    private BenchmarkApplication(ConfigurableApplicationContext context, String topic) {
        this.context = context;
        this.partition = new TopicPartition(topic, 0);
        this.workload = new Workload(topic, TestKafka.bootstrapServers());
        this.admin = TestKafka.admin();
    }

    /** Starts an application with these classes and, beyond what all have, these {@code key=value} properties. */
    public static BenchmarkApplication start(
            BenchmarkDatabase database, List<? extends Class<?>> classes, String... more) {
        String topic = TestKafka.createTopic("benchmark", 1);
        Map<String, Object> properties = new HashMap<>();
        properties.put("benchmark.topic", topic);
        properties.put("spring.datasource.url", database.jdbcUrl());
        properties.put("spring.kafka.bootstrap-servers", TestKafka.bootstrapServers());
        properties.put("spring.kafka.consumer.auto-offset-reset", "earliest");
        properties.put("spring.kafka.consumer.max-poll-records", "500");
        properties.put("spring.kafka.listener.auto-startup", "false");
        // Nothing is removed behind the back of a measurement.
        properties.put("idempotency.cleanup.interval", "-");
        properties.put("spring.main.banner-mode", "off");
        properties.put("spring.main.log-startup-info", "false");
        properties.put("logging.level.dev.idempotency", "warn");
        List<Class<?>> all = new ArrayList<>(classes);
        all.add(AutoConfigured.class);
        SpringApplicationBuilder builder = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .properties(properties)
                .properties(more);
        return new BenchmarkApplication(builder.run(), topic);
    }

    public JdbcTemplate jdbc() {
        return bean(JdbcTemplate.class);
    }

    public <T> T bean(Class<T> type) {
        return this.context.getBean(type);
    }

    /** Puts new messages into the topic, for every listener to find. */
    public void publish(int messages) {
        this.workload.publish(messages);
    }

    /**
     * Puts new messages into the topic, whose ids are {@code number-0} and so on, and has the listener's group commit them
     * without having read them. Returns the topic.
     */
    public String publishNumberedAndCommit(int messages, String listener) {
        this.workload.publishNumbered(messages);
        moveTo(listener, endOffset());
        return this.partition.topic();
    }

    /** Starts listeners before the last records of the topic, whether or not they have had them before. */
    public AlternatingListeners alternate(Collection<String> listeners, int records) {
        return alternate(listeners, endOffset() - records);
    }

    /** Lets a listener consume new records while they are published at a fixed rate. */
    public Measurement consumeAtRate(String listener, int records, int perSecond) {
        try (AlternatingListeners turns = alternate(List.of(listener), endOffset())) {
            // One more, whose arrival ends the turn.
            CompletableFuture<Void> published =
                    CompletableFuture.runAsync(() -> this.workload.publish(records + 1, perSecond));
            Measurement measurement = turns.measure(listener, records);
            published.join();
            return measurement;
        }
    }

    private AlternatingListeners alternate(Collection<String> listeners, long offset) {
        jdbc().execute("checkpoint");
        Map<String, MessageListenerContainer> containers = new LinkedHashMap<>();
        for (String listener : listeners) {
            moveTo(listener, offset);
            containers.put(listener, container(listener));
        }
        return new AlternatingListeners(containers, bean(DeliveryGateInterceptor.class));
    }

    private void moveTo(String listener, long offset) {
        String group = Objects.requireNonNull(container(listener).getGroupId());
        get(this.admin
                .alterConsumerGroupOffsets(group, Map.of(this.partition, new OffsetAndMetadata(offset)))
                .all());
    }

    private long endOffset() {
        return get(this.admin
                        .listOffsets(Map.of(this.partition, OffsetSpec.latest()))
                        .partitionResult(this.partition))
                .offset();
    }

    private MessageListenerContainer container(String listener) {
        MessageListenerContainer container =
                bean(KafkaListenerEndpointRegistry.class).getListenerContainer(listener);
        return Objects.requireNonNull(container, () -> "There is no listener " + listener);
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

        /** A listener that fails is not retried: its measurement would mean nothing. */
        @Bean
        CommonContainerStoppingErrorHandler errorHandler() {
            return new CommonContainerStoppingErrorHandler();
        }
    }
}
