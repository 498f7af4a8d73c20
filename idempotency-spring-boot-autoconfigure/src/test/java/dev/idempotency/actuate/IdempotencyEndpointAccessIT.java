package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class IdempotencyEndpointAccessIT {

    @Test
    void withConnectionsThatDoNotCommitByThemselvesMessagesAreForgotten() throws Exception {
        try (TestDatabase database = TestPostgres.createDatabase();
                TestApplication app = TestApplication.start(
                        database,
                        List.of(
                                "spring.main.web-application-type=servlet",
                                "server.port=0",
                                "spring.datasource.hikari.auto-commit=false",
                                "management.endpoints.web.exposure.include=*",
                                "management.endpoint.idempotency.access=unrestricted",
                                "management.endpoint.idempotencyinbox.access=unrestricted",
                                "idempotency.cleanup.enabled=false",
                                "topic=" + TestKafka.createTopic("access", 1)),
                        Twins.class)) {
            Actuator actuator = new Actuator(app);
            insertProcessed(app, "billing", "1");
            insertProcessed(app, "billing", "eu/1");
            insertProcessed(app, "billing/eu", "1");
            String first = "/idempotency?consumer=billing&messageId=1";
            assertThat(actuator.delete(first).statusCode()).isEqualTo(204);
            assertThat(actuator.delete(first).statusCode()).isEqualTo(404);
            assertThat(app.bean(Cleanup.class).run().failed()).isFalse();
            assertThat(actuator.delete("/idempotency?consumer=billing/eu&messageId=1")
                            .statusCode())
                    .isEqualTo(204);
            assertThat(actuator.delete("/idempotency?consumer=billing&messageId=eu%2F1")
                            .statusCode())
                    .isEqualTo(204);
            assertThat(count(database)).isZero();
        }
    }

    private static void insertProcessed(TestApplication app, String consumer, String id) {
        new TransactionTemplate(app.bean(PlatformTransactionManager.class)).executeWithoutResult(status -> app.jdbc()
                .update(
                        "insert into idempotency_processed (consumer_id, message_id, record_topic,"
                                + " record_partition, record_offset) values (?, ?, 'bills', 0, 0)",
                        consumer,
                        id));
    }

    /** On a connection of its own, so that only what is committed counts. */
    private static int count(TestDatabase database) {
        return new JdbcTemplate(new DriverManagerDataSource(database.jdbcUrl()))
                .queryForObject("select count(*) from idempotency_processed", Integer.class);
    }

    static class Twins {

        @KafkaListener(topics = "${topic}", groupId = "billing", autoStartup = "false")
        @IdempotentListener(consumer = "billing")
        void billing(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "eu", autoStartup = "false")
        @IdempotentListener(consumer = "billing/eu")
        void eu(String payload) {}
    }
}
