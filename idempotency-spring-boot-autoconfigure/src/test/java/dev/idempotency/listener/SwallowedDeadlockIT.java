package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestMariaDb;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Import;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/** After a deadlock MariaDB has undone the whole transaction, and begins another one with the next statement. */
class SwallowedDeadlockIT {

    @ParameterizedTest
    @ValueSource(classes = {OfRecords.class, OfPolls.class})
    void aListenerThatCatchesADeadlockHasFailedAndTheOthersOfItsPollHaveNot(Class<?> listener) {
        catchADeadlock(mariaDb(), listener, List.of("1", "2", "3"));
    }

    @ParameterizedTest
    @ValueSource(classes = {OfRecords.class, OfPolls.class})
    void soItHasWithMessagesThatHaveNoKey(Class<?> listener) {
        catchADeadlock(mariaDb(), listener, List.of());
    }

    private static String mariaDb() {
        Optional<String> url = TestMariaDb.createDatabase();
        Assumptions.assumeTrue(url.isPresent(), "No MariaDB server starts here");
        return url.get();
    }

    private static void catchADeadlock(String url, Class<?> listener, List<String> ids) {
        String topic = TestKafka.createTopic("deadlock", 1);
        String group = TestKafka.uniqueName("group");
        try (TestApplication app = TestApplication.start(
                url,
                List.of(
                        "topic=" + topic,
                        "group=" + group,
                        "url=" + url,
                        "idempotency.key.on-missing=process",
                        "spring.kafka.listener.auto-startup=false",
                        "idempotency.errors.initial-interval=10ms"),
                listener)) {
            List<String> payloads = List.of("a", "deadlock", "c");
            for (int i = 0; i < payloads.size(); i++) {
                app.send(topic, ids.isEmpty() ? null : ids.get(i), payloads.get(i));
            }
            app.bean(KafkaListenerEndpointRegistry.class)
                    .getListenerContainers()
                    .forEach(container -> container.start());
            app.awaitCaughtUp(group, topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c", "deadlock");
            assertThat(app.jdbc()
                            .queryForList(
                                    "select message_id from idempotency_processed order by message_id", String.class))
                    .isEqualTo(ids);
            assertThat(app.bean(Work.class).hasCaughtOne()).isTrue();
        }
    }

    @Import(Effects.class)
    abstract static class Work {

        private final Effects effects;
        private final JdbcTemplate jdbc;
        private final String url;
        private boolean caughtOne;

        Work(Effects effects, JdbcTemplate jdbc, String url) {
            this.effects = effects;
            this.jdbc = jdbc;
            this.url = url;
            jdbc.execute("create table account (id integer primary key, balance integer)");
            jdbc.execute("create table weight (id integer primary key)");
            jdbc.update("insert into account (id, balance) values (1, 0), (2, 0)");
        }

        boolean hasCaughtOne() {
            return this.caughtOne;
        }

        final void process(String payload) {
            this.effects.happen(payload);
            if (payload.equals("deadlock") && !this.caughtOne) {
                runIntoDeadlock();
            }
        }

        private void runIntoDeadlock() {
            deposit(this.jdbc, 1);
            CountDownLatch locked = new CountDownLatch(1);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> depositInOtherOrder(locked));
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> locked.getCount() == 0);
            // The other one has changed more rows by then, so that this transaction is the one to be given up.
            Awaitility.await().pollDelay(Duration.ofMillis(500)).until(() -> true);
            try {
                deposit(this.jdbc, 2);
            } catch (PessimisticLockingFailureException ex) {
                this.caughtOne = true;
            }
            other.join();
        }

        private static void deposit(JdbcTemplate jdbc, int account) {
            jdbc.update("update account set balance = balance + 1 where id = ?", account);
        }

        private void depositInOtherOrder(CountDownLatch locked) {
            try (Connection connection = DriverManager.getConnection(this.url);
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                for (int i = 0; i < 300; i++) {
                    statement.executeUpdate("insert into weight values (" + i + ")");
                }
                statement.executeUpdate("update account set balance = balance + 1 where id = 2");
                locked.countDown();
                statement.executeUpdate("update account set balance = balance + 1 where id = 1");
                connection.commit();
            } catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    static class OfRecords extends Work {

        OfRecords(Effects effects, JdbcTemplate jdbc, @Value("${url}") String url) {
            super(effects, jdbc, url);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            process(payload);
        }
    }

    static class OfPolls extends Work {

        OfPolls(Effects effects, JdbcTemplate jdbc, @Value("${url}") String url) {
            super(effects, jdbc, url);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(transactionPerPoll = "true")
        void on(String payload) {
            process(payload);
        }
    }
}
