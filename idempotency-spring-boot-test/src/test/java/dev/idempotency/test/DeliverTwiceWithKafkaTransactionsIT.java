package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThatException;

import dev.idempotency.IdempotentListener;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;

/** Containers that commit offsets in Kafka's transactions, where nothing would come twice. */
class DeliverTwiceWithKafkaTransactionsIT {

    @Test
    void anApplicationIsToldThatNothingWouldComeTwiceInsteadOfBeingShownNothing() {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.NONE)
                    .properties(
                            "spring.datasource.url=" + database.jdbcUrl(),
                            "spring.kafka.bootstrap-servers=localhost:1",
                            "spring.kafka.producer.transaction-id-prefix=tested",
                            "idempotency.test.allow-outside-tests=true",
                            "idempotency.test.deliver-twice=true");
            assertThatException()
                    .isThrownBy(application::run)
                    .havingRootCause()
                    .isInstanceOf(IllegalStateException.class)
                    .withMessageContaining("idempotency.test.deliver-twice")
                    .withMessageContaining("consumer 'transactional'")
                    .withMessageContaining("Kafka transaction manager");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        @Primary
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @KafkaListener(topics = "transactional", groupId = "transactional")
        @IdempotentListener(consumer = "transactional")
        void on(String payload) {}
    }
}
