package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.backoff.FixedBackOff;

class TransactionManagerCheckIT {

    private static TestDatabase database;

    @BeforeAll
    static void createDatabase() {
        database = TestPostgres.createDatabase();
    }

    @AfterAll
    static void dropDatabase() {
        database.close();
    }

    @Test
    void listenersWhoseTransactionsDoNotHoldTheirClaimsAreFound() {
        Throwable thrown = catchThrowable(
                () -> TestApplication.start(database, List.of(), Managers.class, KafkaManager.class, Listeners.class));

        assertThat(ListenerChecksIT.failure(thrown).findings())
                .extracting(finding -> finding.check() + " " + finding.where().replaceAll(".*Listeners\\.|\\(.*", "")
                        + ": " + finding.what().replaceFirst("does not manage .*|\\([^ ]*@.*", ""))
                .containsExactlyInAnyOrder(
                        "transaction-manager several: The listener needs one transaction manager, but there are several and"
                                + " none is named: [bound, hidden, other, unbound].",
                        "transaction-manager nobody: The listener names the transaction manager 'nobody', but no"
                                + " PlatformTransactionManager has that name or qualifier; there are"
                                + " [bound, other, hidden, unbound, kafka].",
                        "transaction-data-source other: Its transaction manager (JdbcTransactionManager) ",
                        "transaction-data-source kafka: Its transaction manager (KafkaTransactionManager) ",
                        "transaction-data-source unbound: Its transaction manager (Hidden) ",
                        "transaction-attributes two: Its @Transactional uses another transaction manager ",
                        "transaction-attributes configured: Its @Transactional uses another transaction manager ");
    }

    @Test
    void aClaimThatWouldNotBePartOfTheTransactionIsRefusedWhenTheCheckIsRelaxed() throws InterruptedException {
        String topic = TestKafka.createTopic("guarded", 1);
        List<String> properties = List.of("topic=" + topic, "idempotency.checks.relaxed=transaction-data-source");
        try (TestApplication app = TestApplication.start(database, properties, Managers.class, Guarded.class)) {
            app.send(topic, "1", "a");

            Exception failure = Guarded.FAILURES.poll(60, TimeUnit.SECONDS);

            assertThat(failure)
                    .hasRootCauseInstanceOf(UnprotectedCallException.class)
                    .rootCause()
                    .hasMessageContaining("no transaction of the store's DataSource is active");
            assertThat(app.jdbc().queryForObject("select count(*) from idempotency_processed", Integer.class))
                    .isZero();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Managers implements TransactionManagementConfigurer {

        private final PlatformTransactionManager other =
                new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other"));

        @Override
        public TransactionManager annotationDrivenTransactionManager() {
            return this.other;
        }

        @Bean
        PlatformTransactionManager bound(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        PlatformTransactionManager other() {
            return this.other;
        }

        @Bean
        PlatformTransactionManager hidden(DataSource dataSource) {
            return new Hidden(new JdbcTransactionManager(dataSource));
        }

        @Bean
        PlatformTransactionManager unbound() {
            return new Hidden(this.other);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class KafkaManager {

        @Bean
        KafkaTransactionManager<?, ?> kafka(ProducerFactory<?, ?> producers) {
            var transactional = new DefaultKafkaProducerFactory<Object, Object>(producers.getConfigurationProperties());
            transactional.setTransactionIdPrefix("tx-");
            return new KafkaTransactionManager<>(transactional);
        }
    }

    /** Does not say what it manages, as those of JTA and of other stores. */
    record Hidden(PlatformTransactionManager delegate) implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) {
            return this.delegate.getTransaction(definition);
        }

        @Override
        public void commit(TransactionStatus status) {
            this.delegate.commit(status);
        }

        @Override
        public void rollback(TransactionStatus status) {
            this.delegate.rollback(status);
        }
    }

    static class Listeners {

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        void several(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "nobody")
        void nobody(String payload) {}

        @Transactional("other")
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        public void other(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "kafka")
        void kafka(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "unbound")
        void unbound(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "hidden")
        void hidden(String payload) {}

        @Transactional
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "hidden")
        public void configured(String payload) {}

        @Transactional("other")
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "bound")
        public void two(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "bound")
        void bound(String payload) {}

        @Transactional(transactionManager = "${nowhere.set:bound}")
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        public void boundByPlaceholder(String payload) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Guarded {

        static final BlockingQueue<Exception> FAILURES = new LinkedBlockingQueue<>();

        @KafkaListener(topics = "${topic}", groupId = "guarded")
        @IdempotentListener(transactionManager = "other")
        void on(String payload) {
            FAILURES.add(new IllegalStateException("It was called"));
        }

        @Bean
        static DefaultErrorHandler errorHandler() {
            return new DefaultErrorHandler(
                    (ConsumerRecord<?, ?> record, Exception ex) -> FAILURES.add(ex), new FixedBackOff(0, 0));
        }
    }
}
