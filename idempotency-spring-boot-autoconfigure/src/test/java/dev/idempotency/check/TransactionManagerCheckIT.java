package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedListenerException;
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
                                + " none is named: [bound, other].",
                        "transaction-manager nobody: The listener names the transaction manager 'nobody', but no"
                                + " PlatformTransactionManager has that name or qualifier; there are"
                                + " [bound, other, kafka].",
                        "transaction-data-source other: Its transaction manager (JdbcTransactionManager) ",
                        "transaction-data-source kafka: Its transaction manager (KafkaTransactionManager) ",
                        "transaction-attributes two: Its @Transactional uses another transaction manager ");
    }

    @Test
    void aClaimThatWouldNotBePartOfTheTransactionIsRefusedWhenTheCheckIsRelaxed() throws InterruptedException {
        String topic = TestKafka.createTopic("guarded", 1);
        List<String> properties = List.of("topic=" + topic, "idempotency.checks.relaxed=transaction-data-source");
        try (TestApplication app = TestApplication.start(database, properties, Managers.class, Guarded.class)) {
            app.send(topic, "1", "a");

            Exception failure = Guarded.FAILURES.poll(60, TimeUnit.SECONDS);

            assertThat(failure)
                    .hasRootCauseInstanceOf(UnprotectedListenerException.class)
                    .rootCause()
                    .hasMessageContaining("no transaction of the store's DataSource is active");
            assertThat(app.jdbc().queryForObject("select count(*) from idempotency_processed", Integer.class))
                    .isZero();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Managers {

        @Bean
        PlatformTransactionManager bound(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        PlatformTransactionManager other() {
            return new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other"));
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
