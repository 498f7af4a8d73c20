package dev.idempotency.benchmarks.stage;

import dev.idempotency.testing.TestKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * runs only while it is measured.
 */
public final class BenchmarkApplication implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(10);

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

    public static BenchmarkApplication start(BenchmarkDatabase database, List<? extends Class<?>> classes) {
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
                .properties(properties);
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

    /** Lets a listener consume the last records of the topic, whether or not it has had them before. */
    public Measurement consume(String listener, int records) {
        moveTo(listener, endOffset() - records);
        return measure(listener, records, () -> {});
    }

    /** Lets a listener consume new records while they are published at a fixed rate. */
    public Measurement consumeAtRate(String listener, int records, int perSecond) {
        moveTo(listener, endOffset());
        return measure(listener, records, () -> this.workload.publish(records, perSecond));
    }

    private Measurement measure(String listener, int records, Runnable meanwhile) {
        jdbc().execute("checkpoint");
        Stopwatch.Run run = bean(Stopwatch.class).reset(records);
        MessageListenerContainer container = container(listener);
        container.start();
        try {
            meanwhile.run();
            return run.await(listener, PATIENCE);
        } finally {
            container.stop();
        }
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
        Stopwatch stopwatch() {
            return new Stopwatch();
        }

        /** A contender that fails is not retried: its measurement would mean nothing. */
        @Bean
        CommonContainerStoppingErrorHandler errorHandler() {
            return new CommonContainerStoppingErrorHandler();
        }
    }
}
