package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.Check.Finding;
import dev.idempotency.FailedChecksException;
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
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
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

        List<Finding> findings = Stream.iterate(thrown, cause -> cause != null, Throwable::getCause)
                .filter(FailedChecksException.class::isInstance)
                .map(FailedChecksException.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError("It did not fail as expected", thrown))
                .findings();
        assertThat(findings.stream()
                        .map(finding -> finding.check() + " " + finding.where().replaceAll(", bean [^;]*", "") + ": "
                                + finding.what().replaceAll("@[0-9a-f]+", "").replaceFirst("HikariDataSource.*", "")))
                .map(text -> text.replace(Listeners.class.getName() + ".", "").replace("(String)", ""))
                .satisfiesExactlyInAnyOrder(
                        found -> assertThat(found)
                                .startsWith("transaction-manager several:")
                                .endsWith("there are several and none is named: [bound, hidden, other, unbound]."),
                        found -> assertThat(found)
                                .startsWith("transaction-manager nobody:")
                                .contains("'nobody', but no PlatformTransactionManager has that name"),
                        found -> assertThat(found)
                                .startsWith("transaction-data-source other")
                                .contains(
                                        "; other", "Its transaction manager (JdbcTransactionManager) does not manage"),
                        found -> assertThat(found)
                                .startsWith("transaction-data-source kafka:")
                                .contains("Its transaction manager (KafkaTransactionManager) does not manage"),
                        found -> assertThat(found)
                                .startsWith("transaction-data-source unbound:")
                                .contains("Its transaction manager (Hidden) does not manage"),
                        found -> assertThat(found)
                                .startsWith("transaction-attributes two:")
                                .contains("Its @Transactional uses another transaction manager"));
    }

    @Test
    void aClaimThatWouldNotBePartOfTheTransactionIsRefusedWhenTheCheckIsRelaxed() throws InterruptedException {
        String topic = TestKafka.createTopic("guarded", 1);
        List<String> properties = List.of("topic=" + topic, "idempotency.relaxed-checks=transaction-data-source");
        try (TestApplication app = TestApplication.start(database, properties, Managers.class, Guarded.class)) {
            app.send(topic, "1", "a");

            Exception failure = app.bean(Guarded.class).failures().poll(60, TimeUnit.SECONDS);

            assertThat(failure)
                    .hasRootCauseInstanceOf(UnprotectedListenerException.class)
                    .rootCause()
                    .hasMessageContaining("no transaction of the store's DataSource is active");
            assertThat(app.bean(Guarded.class).calls()).isEmpty();
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

        @Bean
        PlatformTransactionManager hidden(DataSource dataSource) {
            return new Hidden(new JdbcTransactionManager(dataSource));
        }

        @Bean
        PlatformTransactionManager unbound() {
            return new Hidden(new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:unbound")));
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

    /** Does not tell what it manages. */
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

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "other")
        void other(String payload) {}

        @Transactional("other")
        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener
        public void otherByTransactional(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "kafka")
        void kafka(String payload) {}

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "unbound")
        void unbound(String payload) {}

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

        @KafkaListener(topics = "t", groupId = "g")
        @IdempotentListener(transactionManager = "hidden")
        void hidden(String payload) {}
    }

    @Import(Guarded.Errors.class)
    static class Guarded {

        private final Errors errors;

        Guarded(Errors errors) {
            this.errors = errors;
        }

        BlockingQueue<Exception> failures() {
            return this.errors.failures;
        }

        BlockingQueue<String> calls() {
            return this.errors.calls;
        }

        @KafkaListener(topics = "${topic}", groupId = "guarded")
        @IdempotentListener(transactionManager = "other")
        void on(String payload) {
            this.errors.calls.add(payload);
        }

        @Configuration(proxyBeanMethods = false)
        static class Errors {

            private final BlockingQueue<Exception> failures = new LinkedBlockingQueue<>();
            private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

            @Bean
            DefaultErrorHandler errorHandler() {
                return new DefaultErrorHandler(
                        (ConsumerRecord<?, ?> record, Exception ex) -> this.failures.add(ex), new FixedBackOff(0, 0));
            }
        }
    }
}
