package dev.idempotency.app;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationImportSelector;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.data.jdbc.autoconfigure.DataJdbcRepositoriesAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AnnotationAttributes;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.core.KafkaTemplate;

/** A running application with the auto-configuration, on a real database and a real broker. */
public final class TestApplication implements AutoCloseable {

    /** A property for an application with a web server on a random port and all Actuator endpoints. */
    public static final String WEB = "spring.main.web-application-type=servlet";

    static {
        // For conditions without an explicit timeout: a busy machine sometimes takes longer than 10 s.
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    private final ConfigurableApplicationContext context;

    private TestApplication(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts an application of these classes; {@code properties} are of the form {@code name=value}. */
    public static TestApplication start(TestDatabase database, List<String> properties, Class<?>... classes) {
        return start(database.jdbcUrl(), properties, classes);
    }

    /** Starts an application of these classes on the database with this URL. */
    public static TestApplication start(String jdbcUrl, List<String> properties, Class<?>... classes) {
        Set<Class<?>> all = new LinkedHashSet<>(List.of(classes));
        if (!all.contains(Everything.class)) {
            all.add(properties.contains(WEB) ? Observed.class : Slim.class);
        }
        Map<String, Object> defaults = new HashMap<>();
        defaults.put("spring.datasource.url", jdbcUrl);
        if (properties.stream().noneMatch(property -> property.startsWith("spring.kafka.bootstrap-servers="))) {
            defaults.put("spring.kafka.bootstrap-servers", TestKafka.bootstrapServers());
        }
        defaults.put("spring.kafka.consumer.auto-offset-reset", "earliest");
        // Tests send one message at a time, and by default a producer waits for more.
        defaults.put("spring.kafka.producer.properties.linger.ms", "0");
        // A consumer that seeks back to a record waits for the current fetch to complete.
        defaults.put("spring.kafka.consumer.fetch-max-wait", "50ms");
        // A container checks after each poll whether a retry is due or a nack's sleep is over.
        defaults.put("spring.kafka.listener.poll-timeout", "50ms");
        if (!properties.contains("spring.kafka.consumer.properties.group.protocol=consumer")) {
            // With the consumer protocol this is a setting of the broker, and clients reject it.
            defaults.put("spring.kafka.consumer.properties.session.timeout.ms", "6000");
        }
        if (properties.contains(WEB)) {
            defaults.put("server.port", "0");
            defaults.put("management.endpoints.web.exposure.include", "*");
        }
        // Failed messages are redelivered quickly.
        defaults.put("idempotency.errors.initial-interval", "10ms");
        defaults.put("idempotency.errors.max-interval", "50ms");
        defaults.put("idempotency.errors.outage.max-interval", "50ms");
        defaults.put("spring.main.banner-mode", "off");
        defaults.put("spring.flyway.enabled", "false");
        defaults.put("spring.liquibase.enabled", "false");
        defaults.put("spring.jpa.open-in-view", "false");
        SpringApplicationBuilder builder = new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .properties(defaults)
                .properties(properties.toArray(String[]::new));
        return new TestApplication(builder.run());
    }

    public ConfigurableApplicationContext context() {
        return this.context;
    }

    public <T> T bean(Class<T> type) {
        return this.context.getBean(type);
    }

    public JdbcTemplate jdbc() {
        return bean(JdbcTemplate.class);
    }

    /** A message with its id in the header {@code message-id}, or without one; with a partition, it has a key. */
    public static ProducerRecord<String, String> message(
            String topic, @Nullable Integer partition, @Nullable String id, @Nullable String value) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(topic, partition, (partition != null) ? "key" : null, value);
        if (id != null) {
            record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        }
        return record;
    }

    /** Sends a message with its id in the header {@code message-id}, or without one. */
    public void send(String topic, @Nullable String id, @Nullable String value) {
        send(message(topic, null, id, value));
    }

    /** Sends a record and waits for the broker's acknowledgment. */
    @SuppressWarnings("unchecked")
    public void send(ProducerRecord<?, ?> record) {
        get(((KafkaTemplate<Object, Object>) this.context.getBean(KafkaTemplate.class))
                .send((ProducerRecord<Object, Object>) record));
    }

    private static <T> T get(Future<T> answer) {
        try {
            return answer.get(30, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Waits until the group has committed the offsets of all records of the topic. */
    public void awaitCaughtUp(String group, String topic) {
        Awaitility.await("group " + group + " at the end of " + topic)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> endOffsets(topic).equals(committedOffsets(group, topic)));
    }

    /** The committed offsets of the group, by partition; empty partitions are omitted. */
    public static Map<Integer, Long> committedOffsets(String group, String topic) {
        Map<Integer, Long> offsets = new HashMap<>();
        get(TestKafka.sharedAdmin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
                .forEach((partition, offset) -> {
                    if (partition.topic().equals(topic) && offset != null && offset.offset() > 0) {
                        offsets.put(partition.partition(), offset.offset());
                    }
                });
        return offsets;
    }

    /** The end offsets of the topic, by partition; empty partitions are omitted. */
    public static Map<Integer, Long> endOffsets(String topic) {
        Admin admin = TestKafka.sharedAdmin();
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        get(admin.describeTopics(List.of(topic)).topicNameValues().get(topic))
                .partitions()
                .forEach(
                        partition -> latest.put(new TopicPartition(topic, partition.partition()), OffsetSpec.latest()));
        Map<Integer, Long> ends = new HashMap<>();
        get(admin.listOffsets(latest).all()).forEach((partition, end) -> {
            if (end.offset() > 0) {
                ends.put(partition.partition(), end.offset());
            }
        });
        return ends;
    }

    /** Commits the end offsets for a group without members, whether or not the records were processed. */
    public static void commitAll(String group, String topic) {
        commit(group, topic, endOffsets(topic));
    }

    /** Resets a group without members to the beginning of the topic. */
    public static void commitBeginning(String group, String topic) {
        Map<Integer, Long> beginning = endOffsets(topic);
        beginning.replaceAll((partition, end) -> 0L);
        commit(group, topic, beginning);
    }

    private static void commit(String group, String topic, Map<Integer, Long> offsets) {
        Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
        offsets.forEach(
                (partition, offset) -> all.put(new TopicPartition(topic, partition), new OffsetAndMetadata(offset)));
        Awaitility.await("group " + group + " empty").ignoreExceptions().until(() -> {
            get(TestKafka.sharedAdmin().alterConsumerGroupOffsets(group, all).all());
            return true;
        });
    }

    @Override
    public void close() {
        this.context.close();
    }

    /** The auto-configurations that most tests need: Kafka, JDBC, transactions, and all of the library's. */
    @Configuration(proxyBeanMethods = false)
    @Import({Effects.class, SlimSelector.class})
    static class Slim {}

    static final class SlimSelector extends AutoConfigurationImportSelector {

        private static final String WANTED = "dev\\.idempotency\\..*|.*\\.(Aop|DataSource(TransactionManager)?|Flyway"
                + "|Jackson|JdbcTemplate|Kafka|Lifecycle|Liquibase|PropertyPlaceholder|Ssl"
                + "|Transaction(ManagerCustomization)?)AutoConfiguration";

        @Override
        protected AnnotationAttributes getAttributes(AnnotationMetadata metadata) {
            String[] none = {};
            return new AnnotationAttributes(Map.of("exclude", none, "excludeName", none));
        }

        @Override
        protected List<String> getCandidateConfigurations(
                AnnotationMetadata metadata, AnnotationAttributes attributes) {
            return ImportCandidates.load(AutoConfiguration.class, getBeanClassLoader()).getCandidates().stream()
                    .filter(name -> name.matches(WANTED))
                    .toList();
        }
    }

    /** To be added to an application's classes: Hibernate, with its transaction manager in place of the JDBC one. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
    public static class WithJpa {}

    /** Every auto-configuration on the class path except those for entities and repositories. */
    @Configuration(proxyBeanMethods = false)
    @Import(Effects.class)
    @EnableAutoConfiguration(
            exclude = {
                HibernateJpaAutoConfiguration.class,
                DataJpaRepositoriesAutoConfiguration.class,
                DataJdbcRepositoriesAutoConfiguration.class
            })
    static class Observed {}

    /** To be added to an application's classes: every auto-configuration on the class path. */
    @Configuration(proxyBeanMethods = false)
    @Import(Effects.class)
    @EnableAutoConfiguration
    public static class Everything {}
}
