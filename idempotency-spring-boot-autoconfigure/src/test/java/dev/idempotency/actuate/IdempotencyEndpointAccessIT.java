package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.database.Schema;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

class IdempotencyEndpointAccessIT {

    /** As pools other than Hikari's have it: nobody rolls back what is open on a connection that comes back. */
    @Test
    void withConnectionsThatDoNotCommitByThemselvesMessagesAreForgottenAndNoTransactionIsLeftOpen() throws Exception {
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
                                "idempotency.cleanup.interval=-",
                                "topic=" + TestKafka.createTopic("access", 1)),
                        Twins.class)) {
            Actuator actuator = new Actuator(app);
            insertProcessed(app, "billing", "1");
            insertProcessed(app, "billing", "eu/1");
            insertProcessed(app, "billing/eu", "1");
            String first = "/idempotency?consumer=billing&messageId=1";
            assertThat(actuator.delete(first).statusCode()).isEqualTo(204);
            assertThat(actuator.delete(first).statusCode()).isEqualTo(404);
            assertThat(actuator.get(first).statusCode()).isEqualTo(200);
            assertThat(actuator.get("/idempotency").statusCode()).isEqualTo(200);
            assertThat(actuator.get("/idempotencyinbox").statusCode()).isEqualTo(200);
            assertThat(actuator.get("/idempotencyinbox?consumer=billing&messageId=1")
                            .statusCode())
                    .isEqualTo(404);
            assertThat(actuator.get("/health").statusCode()).isEqualTo(200);
            assertThat(app.bean(Cleanup.class).run().failed()).isFalse();
            assertThat(app.bean(Inbox.class).replayFailed("billing").sent()).isZero();
            assertThat(app.bean(ProcessedMessageStore.class).hasProcessed("nobody"))
                    .isFalse();
            assertThat(app.bean(Schema.class).missing()).isEmpty();
            assertThat(app.bean(LeftOpen.class).where).isEmpty();

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

    @Import(LeftOpen.class)
    static class Twins {

        @KafkaListener(topics = "${topic}", groupId = "billing", autoStartup = "false")
        @IdempotentListener(consumer = "billing")
        void billing(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "eu", autoStartup = "false")
        @IdempotentListener(consumer = "billing/eu")
        void eu(String payload) {}
    }

    /** Where connections are given back with a transaction on them. */
    static final class LeftOpen implements BeanPostProcessor {

        private static final Pattern OURS =
                Pattern.compile("dev\\.idempotency\\.(?!app\\.|actuate\\.IdempotencyEndpointAccessIT)");

        private final Set<String> where = ConcurrentHashMap.newKeySet();

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            return (bean instanceof HikariDataSource pool) ? new Watched(pool) : bean;
        }

        private final class Watched extends DelegatingDataSource {

            Watched(DataSource pool) {
                super(pool);
            }

            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                return (Connection) Proxy.newProxyInstance(
                        getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                            if (method.getName().equals("close")) {
                                look(connection);
                            }
                            try {
                                return method.invoke(connection, arguments);
                            } catch (InvocationTargetException ex) {
                                throw ex.getCause();
                            }
                        });
            }

            private void look(Connection connection) throws SQLException {
                if (connection.unwrap(BaseConnection.class).getTransactionState() != TransactionState.IDLE) {
                    StackWalker.getInstance().forEach(frame -> {
                        if (OURS.matcher(frame.getClassName()).lookingAt()) {
                            LeftOpen.this.where.add(frame.toString());
                        }
                    });
                }
            }
        }
    }
}
