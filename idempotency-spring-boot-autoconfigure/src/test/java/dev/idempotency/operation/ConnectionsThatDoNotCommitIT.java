package dev.idempotency.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.UnprotectedClaimException;
import dev.idempotency.app.TestApplication;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Claims from code, where the pool's connections do not commit by themselves, as Hibernate's users have them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConnectionsThatDoNotCommitIT {

    private static final MessageId ID = MessageId.of("receipts", "a");

    private TestDatabase database;
    private TestApplication app;
    private IdempotentOperations operations;
    private ProcessedMessageStore store;

    @Configuration(proxyBeanMethods = false)
    static class Consumers {

        @Bean
        IdempotentConsumer receipts() {
            return IdempotentConsumer.named("receipts");
        }
    }

    @BeforeAll
    void start() {
        this.database = TestPostgres.createDatabase();
        this.app = TestApplication.start(
                this.database,
                List.of(
                        "spring.kafka.bootstrap-servers=localhost:1",
                        "spring.datasource.hikari.auto-commit=false",
                        "idempotency.cleanup.interval=-"),
                Consumers.class);
        this.operations = this.app.bean(IdempotentOperations.class);
        this.store = this.app.bean(ProcessedMessageStore.class);
    }

    @AfterAll
    void stop() {
        this.app.close();
        this.database.close();
    }

    private static TransactionTemplate ofAnotherDataSource() {
        return new TransactionTemplate(
                new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other-without-commit")));
    }

    private void useTheStoresDataSource() {
        this.app.jdbc().queryForObject("select 1", Integer.class);
    }

    @Test
    void aConnectionThatIsOnlyUsedInATransactionOfAnotherDataSourceIsNoTransactionOfTheStore() {
        ofAnotherDataSource().executeWithoutResult(status -> {
            useTheStoresDataSource();
            assertThatExceptionOfType(UnprotectedClaimException.class)
                    .isThrownBy(() -> this.operations.claim(ID))
                    .withMessageContaining("not one of the store's DataSource");
        });
    }

    @Test
    void whatIsForgottenThereStaysForgotten() {
        this.operations.execute(ID, () -> {});
        ofAnotherDataSource().executeWithoutResult(status -> {
            useTheStoresDataSource();
            assertThat(this.store.forget(ID)).isTrue();
            useTheStoresDataSource();
        });
        assertThat(this.store.find(List.of(ID))).isEmpty();
    }
}
