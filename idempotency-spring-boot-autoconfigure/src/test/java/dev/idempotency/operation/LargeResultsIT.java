package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.ResultException;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestMariaDb;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Results that are allowed, and larger than what MariaDB takes in one packet. */
class LargeResultsIT {

    @Configuration(proxyBeanMethods = false)
    static class Consumers {

        @Bean
        IdempotentConsumer receipts() {
            return IdempotentConsumer.named("receipts");
        }
    }

    @Test
    void aResultThatTheDatabaseDoesNotTakeIsAnErrorOfTheResultAndNoOutage() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "There is no embedded MariaDB for this platform");
        JdbcTemplate server = new JdbcTemplate(new DriverManagerDataSource(url.orElseThrow()));
        long before = server.queryForObject("select @@global.max_allowed_packet", Long.class);
        server.execute("set global max_allowed_packet = 1048576");
        try (TestApplication app = TestApplication.start(
                url.orElseThrow(),
                List.of(
                        "spring.kafka.bootstrap-servers=localhost:1",
                        "idempotency.results.max-size=10MB",
                        "idempotency.cleanup.interval=-"),
                Consumers.class)) {
            IdempotentOperations operations = app.bean(IdempotentOperations.class);
            MessageId id = MessageId.of("receipts", "a");
            assertThatExceptionOfType(ResultException.class)
                    .isThrownBy(() -> operations.execute(id, String.class, () -> "x".repeat(2_000_000)))
                    .withMessageContaining("receipts:a")
                    .withMessageContaining("max_allowed_packet");
            assertThat(operations.execute(id, String.class, () -> "small").isDuplicate())
                    .isFalse();
        } finally {
            server.execute("set global max_allowed_packet = " + before);
        }
    }
}
