package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.crash.CrashingApplication.AtCommitListener;
import dev.idempotency.crash.CrashingApplication.CrashPoint;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Real processes that are killed or crash. */
class CrashIT extends ApplicationTest {

    static final int MESSAGES = 600;

    /** A crash before the commit leaves no effect of the message; after the commit, the message is not applied again. */
    @ParameterizedTest
    @CsvSource({"Listener, BEFORE_COMMIT", "Listener, AFTER_COMMIT"})
    @CsvSource({"AtCommitListener, BEFORE_COMMIT", "AtCommitListener, AFTER_COMMIT"})
    void aJvmThatDiesAroundTheCommitAppliesItsMessageOnce(String name, CrashPoint crash) throws Exception {
        Class<?> listener = listener(name);
        send(15);
        Process process = launch(listener, crash);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(137);
        try (TestApplication app = start(listener, Outcomes.class)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertAppliedOnce(app, 15);
            int redelivered = (crash == CrashPoint.AFTER_COMMIT) ? 1 : 0;
            assertThat(app.bean(Outcomes.class).duplicates).hasSizeGreaterThanOrEqualTo(redelivered);
        }
    }

    private static Class<?> listener(String name) throws ClassNotFoundException {
        return Class.forName(CrashingApplication.class.getName() + "$" + name);
    }

    private static void assertAppliedOnce(TestApplication app, int messages) {
        assertThat(app.bean(Effects.class).counts()).hasSize(messages).allSatisfy((name, count) -> assertThat(count)
                .isOne());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Listener", "AtCommitListener", "PollListener", "VersionListener", "OffsetListener"})
    void aProcessThatIsKilledAppliesEveryMessageOnce(String name) throws Exception {
        send(MESSAGES);
        killAtWork(listener(name), 1);
        try (TestApplication app = start(listener(name))) {
            app.awaitCaughtUp(this.group, this.topic);
            assertAppliedOnce(app, MESSAGES);
        }
    }

    @Test
    void workFromCodeOfTwoKilledProcessesIsDoneOnceAndItsResultsAreGivenAgain() throws Exception {
        killAtWork(CrashingApplication.Importer.class, 2);
        try (TestApplication app = start(CrashingApplication.Importer.class)) {
            assertAppliedOnce(app, MESSAGES);
        }
    }

    private void killAtWork(Class<?> listener, int count) throws Exception {
        JdbcTemplate jdbc = jdbc();
        jdbc.execute("create table if not exists effect (name varchar(1000) not null)");
        List<Process> processes = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                processes.add(launch(listener, CrashPoint.KILLED));
            }
            Awaitility.await("work before the kill")
                    .atMost(Duration.ofSeconds(120))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> applied(jdbc) > 50);
        } finally {
            for (Process process : processes) {
                process.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
            }
        }
        assertThat(applied(jdbc)).as("killed before all was done").isLessThan(MESSAGES);
    }

    /** The server completes the statement, which includes the commit, although its client is gone. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aJvmThatIsKilledWhileItsClaimIsOnTheWayAppliesItsMessageOnce(boolean processedElsewhere) throws Exception {
        start(List.of("crash=NEVER", "spring.kafka.listener.auto-startup=false"), AtCommitListener.class)
                .close();
        send(15);
        try (Connection other = DriverManager.getConnection(this.database.jdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("insert into idempotency_processed values ('at-commit', 'id-9', now(), 't', 0, 9)");
            Process process = launch(AtCommitListener.class, CrashPoint.NEVER);
            try {
                Awaitility.await("the claim that waits")
                        .atMost(Duration.ofSeconds(120))
                        .until(() -> jdbc().queryForObject(
                                                "select count(*) from pg_stat_activity where pg_blocking_pids(pid) <> '{}'"
                                                        + " and datname = current_database()",
                                                Integer.class)
                                > 0);
            } finally {
                process.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
            }
            assertThat(applied(jdbc())).isEqualTo(9);
            if (processedElsewhere) {
                other.commit();
            } else {
                other.rollback();
            }
        }
        try (TestApplication app = start(AtCommitListener.class)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertAppliedOnce(app, processedElsewhere ? 14 : 15);
        }
    }

    private JdbcTemplate jdbc() {
        return new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
    }

    private static int applied(JdbcTemplate jdbc) {
        return jdbc.queryForObject("select count(*) from effect where name like 'effect-%'", Integer.class);
    }

    @Override
    protected TestApplication start(Class<?>... classes) {
        return start(List.of("crash=NEVER", CrashingApplication.SAME_MEMBER), classes);
    }

    private void send(int messages) {
        CrashingApplication.send(this.topic, messages);
    }

    private Process launch(Class<?> listener, CrashPoint crash) throws IOException {
        return CrashingApplication.launch(this.database, this.topic, this.group, crash, listener);
    }
}
