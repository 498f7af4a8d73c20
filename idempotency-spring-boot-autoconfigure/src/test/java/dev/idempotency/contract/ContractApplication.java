package dev.idempotency.contract;

import static dev.idempotency.app.Thrown.undeclared;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import dev.idempotency.autoconfigure.IdempotencyCheckAutoConfiguration;
import dev.idempotency.autoconfigure.IdempotencyListenerAutoConfiguration;
import dev.idempotency.autoconfigure.IdempotencyOperatorsAutoConfiguration;
import dev.idempotency.autoconfigure.IdempotencyStoreAutoConfiguration;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.internal.event.ConsumerOutages.ConsumerOutage;
import dev.idempotency.internal.failure.OutageRegistry;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.postgresql.PGConnection;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

/** The application of all cases, with only the auto-configurations of Kafka, JDBC, transactions and this library. */
final class ContractApplication implements AutoCloseable {

    static final int ATTEMPTS = 3;

    private static final Map<String, Object> PROPERTIES = Map.ofEntries(
            Map.entry("spring.main.banner-mode", "off"),
            Map.entry("logging.level.root", "off"),
            Map.entry("logging.level.dev.idempotency", "off"),
            Map.entry("spring.kafka.bootstrap-servers", TestKafka.bootstrapServers()),
            Map.entry("spring.kafka.listener.poll-timeout", "50ms"),
            Map.entry("spring.kafka.consumer.auto-offset-reset", "earliest"),
            Map.entry("spring.kafka.consumer.fetch-max-wait", "50ms"),
            Map.entry("spring.kafka.consumer.value-deserializer", Order.Reader.class.getName()),
            Map.entry("spring.kafka.consumer.properties.interceptor.classes", Journal.Tap.class.getName()),
            Map.entry("spring.kafka.producer.value-serializer", Order.Writer.class.getName()),
            Map.entry("spring.kafka.producer.properties.interceptor.classes", Journal.Tap.class.getName()),
            Map.entry("spring.kafka.producer.properties.linger.ms", "0"),
            Map.entry("spring.jpa.hibernate.ddl-auto", "none"),
            Map.entry("idempotency.checks.broker-timeout", "0"),
            Map.entry("idempotency.claim.timeout", "1s"),
            Map.entry("idempotency.lock.timeout", "1s"),
            Map.entry("idempotency.cleanup.enabled", "false"),
            Map.entry("idempotency.errors.initial-interval", "20ms"),
            Map.entry("idempotency.errors.max-interval", "50ms"),
            Map.entry("idempotency.errors.max-attempts", ATTEMPTS),
            Map.entry("idempotency.errors.outage.max-interval", "20ms"));

    /** Tables of the listeners, with a trigger that fails at the commit if the command asks for it. */
    private static final List<String> TABLES = List.of(
            "create table effect (written bigserial, topic text, number integer, id text, version bigint, command text,"
                    + " amount integer, attempt integer)",
            "create table payment (id text, constraint payment_pkey primary key (id))",
            "create table sole (id integer primary key)",
            "insert into sole (id) values (1)",
            """
            create function at_commit() returns trigger language plpgsql as $$
            begin
                if new.command = 'outage@commit' and new.attempt <= %d then
                    perform pg_terminate_backend(pg_backend_pid()), pg_sleep(10);
                elsif new.command = 'fails-at-commit' or (new.command = 'fails-at-commit-once' and new.attempt = 1) then
                    raise exception 'told to fail';
                elsif new.command = 'violates-at-commit' then
                    raise exception 'told to fail' using errcode = '23505';
                end if;
                return null;
            end $$
            """.formatted(GenericListener.OUTAGE),
            "create constraint trigger at_commit after insert on effect deferrable initially deferred for each row"
                    + " execute function at_commit()");

    private final TestDatabase database = TestPostgres.createDatabase();
    private final HikariDataSource control = new HikariDataSource();
    private final KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
            Map.of(
                    "bootstrap.servers", TestKafka.bootstrapServers(),
                    "interceptor.classes", Journal.Tap.class.getName()),
            new StringSerializer(),
            new ByteArraySerializer());
    private ConfigurableApplicationContext context;

    ContractApplication() {
        this.control.setJdbcUrl(this.database.jdbcUrl());
        TABLES.forEach(control()::execute);
    }

    JdbcTemplate control() {
        return new JdbcTemplate(this.control);
    }

    /** Starts the application with a listener for each case; their containers are not started yet. */
    void start(Collection<Journal> cases, Class<?> configuration) {
        this.context = new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .properties(PROPERTIES)
                .properties("spring.datasource.url=" + this.database.jdbcUrl())
                .initializers(context -> cases.forEach(each -> register(each, (GenericApplicationContext) context)))
                .initializers(context ->
                        ((GenericApplicationContext) context).registerBean(Cuts.class, () -> new Cuts(control())))
                .run();
    }

    @SuppressWarnings("unchecked")
    private static void register(Journal journal, GenericApplicationContext context) {
        GenericListener listener = journal.kind.listener.get();
        listener.journal = journal;
        context.registerBean(journal.topic, (Class<GenericListener>) listener.getClass(), () -> listener);
    }

    void send(Journal journal, List<String> messages) throws Exception {
        for (String message : messages) {
            this.producer.send(journal.next(message)).get(30, TimeUnit.SECONDS);
        }
    }

    /** Outages of a case's consumer, whose name begins with its group. */
    List<ConsumerOutage> outagesOf(Journal journal) {
        return this.context.getBean(OutageRegistry.class).current().stream()
                .filter(outage -> outage.consumer().startsWith(journal.topic + "/"))
                .toList();
    }

    /** Containers of a case: first the one of its topic, then those of its retry topics. */
    List<ConcurrentMessageListenerContainer<?, ?>> containersOf(Journal journal) {
        List<ConcurrentMessageListenerContainer<?, ?>> containers = new ArrayList<>();
        this.context
                .getBean(KafkaListenerEndpointRegistry.class)
                .getListenerContainersMatching(
                        id -> id.equals(journal.topic) || id.startsWith(journal.topic + "-retry"))
                .forEach(container -> containers.add((ConcurrentMessageListenerContainer<?, ?>) container));
        containers.sort(Comparator.comparing(ConcurrentMessageListenerContainer::getListenerId));
        return containers;
    }

    @Override
    public void close() {
        if (this.context != null) {
            this.context.close();
        }
        this.producer.close();
        Journal.closeAll();
        this.control.close();
        this.database.close();
    }

    /** Cuts connections before the transaction of a listener begins, or before its first statement. */
    private record Cuts(JdbcTemplate control) implements BeanPostProcessor {

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            return (bean instanceof DataSource dataSource) ? cuttable(dataSource) : bean;
        }

        private DataSource cuttable(DataSource dataSource) {
            return new DelegatingDataSource(dataSource) {

                @Override
                public Connection getConnection() throws SQLException {
                    if (isCutAt("outage@begin")) {
                        return DriverManager.getConnection("jdbc:postgresql://localhost:1/nothing-listens-there");
                    }
                    Connection connection = super.getConnection();
                    if (isCutAt("outage@claim")) {
                        int pid = connection.unwrap(PGConnection.class).getBackendPID();
                        Cuts.this.control.query("select pg_terminate_backend(?, 10000)", rows -> {}, pid);
                    }
                    return connection;
                }
            };
        }

        private static boolean isCutAt(String command) {
            return Journal.of(Thread.currentThread().getName()).anyMatch(journal -> journal.isCutAt(command));
        }
    }

    /** With Hibernate's transaction manager. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
    static class OnJpa extends OnJdbc {}

    /** With the transaction manager of plain JDBC. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        DataSourceAutoConfiguration.class,
        JdbcTemplateAutoConfiguration.class,
        DataSourceTransactionManagerAutoConfiguration.class,
        TransactionAutoConfiguration.class,
        KafkaAutoConfiguration.class,
        JacksonAutoConfiguration.class,
        IdempotencyStoreAutoConfiguration.class,
        IdempotencyAutoConfiguration.class,
        IdempotencyCheckAutoConfiguration.class,
        IdempotencyListenerAutoConfiguration.class,
        IdempotencyOperatorsAutoConfiguration.class
    })
    static class OnJdbc {

        @Bean
        IdempotencyEventListener journals() {
            return IdempotencyEventListener.perConsumer(consumer ->
                    Journal.of(consumer.groupId()).findFirst().orElseThrow().observer());
        }

        /** Exceptions of a classifier do not matter: the provided one decides. */
        @Bean
        FailureClassifier failingClassifier() {
            return failure -> {
                throw undeclared(new IOException("told to fail"));
            };
        }

        /** Exceptions of an observer must not matter. */
        @Bean
        IdempotencyEventListener failingObserver() {
            return IdempotencyEventListener.perConsumer(consumer -> Journal.observer(report -> {
                throw new IllegalStateException("told to fail");
            }));
        }

        @Bean
        ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> containers(
                ProducerFactory<?, ?> producers) {
            Map<String, Object> settings = new HashMap<>(producers.getConfigurationProperties());
            settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, TestKafka.uniqueName("tx"));
            var transactions = new KafkaTransactionManager<>(new DefaultKafkaProducerFactory<>(settings));
            return container -> {
                ContainerProperties properties = container.getContainerProperties();
                switch (Journal.of(container.getListenerId()).findFirst().orElseThrow().container) {
                    case "acknowledged" -> properties.setAckMode(AckMode.MANUAL_IMMEDIATE);
                    case "handled" -> container.setCommonErrorHandler(handler(ATTEMPTS));
                    case "unretried" -> container.setCommonErrorHandler(handler(1));
                    case "transactional" -> properties.setKafkaAwareTransactionManager(transactions);
                    default -> {}
                }
            };
        }

        private static CommonErrorHandler handler(int attempts) {
            return new DefaultErrorHandler(Journal::recovered, new FixedBackOff(20, attempts - 1)) {

                @Override
                public void handleRemaining(
                        Exception failure,
                        List<ConsumerRecord<?, ?>> records,
                        Consumer<?, ?> consumer,
                        MessageListenerContainer container) {
                    Journal.handled(records.get(0));
                    super.handleRemaining(failure, records, consumer, container);
                }

                @Override
                public void handleBatch(
                        Exception failure,
                        ConsumerRecords<?, ?> records,
                        Consumer<?, ?> consumer,
                        MessageListenerContainer container,
                        Runnable invokeListener) {
                    Journal.handled(records.iterator().next());
                    super.handleBatch(failure, records, consumer, container, invokeListener);
                }
            };
        }

        /** Schedules the pauses of retry topics. */
        @Bean
        TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }
    }
}
