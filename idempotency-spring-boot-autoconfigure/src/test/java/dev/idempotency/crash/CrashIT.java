package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.crash.CrashingApplication.CrashPoint;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Real processes that really die. */
class CrashIT extends ApplicationTest {

    private static final int MESSAGES = 1500;

    @Test
    void aJvmThatDiesBeforeTheCommitHasAppliedNothingOfThatMessage() throws Exception {
        diesAndIsStartedAgain(CrashPoint.BEFORE_COMMIT, 0);
    }

    @Test
    void aJvmThatDiesAfterTheCommitAndBeforeTheOffsetHasAppliedItOnceAndForAll() throws Exception {
        diesAndIsStartedAgain(CrashPoint.AFTER_COMMIT, 1);
    }

    private void diesAndIsStartedAgain(CrashPoint crash, int expectedDuplicates) throws Exception {
        try (TestApplication app = start()) {
            for (int i = 0; i < 15; i++) {
                app.send(this.topic, "id-" + i, "effect-" + i);
            }
        }
        Process process = launch(CrashingApplication.Listener.class, crash);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(137);
        try (TestApplication app = start(CrashingApplication.Listener.class, Outcomes.class)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).counts()).hasSize(15).allSatisfy((name, count) -> assertThat(count)
                    .isOne());
            assertThat(app.bean(Outcomes.class).duplicates).hasSizeGreaterThanOrEqualTo(expectedDuplicates);
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                CrashingApplication.Listener.class,
                CrashingApplication.PollListener.class,
                CrashingApplication.OffsetListener.class,
                CrashingApplication.ConstraintListener.class
            })
    void aProcessThatIsKilledAgainAndAgainAppliesEveryMessageOnce(Class<?> listener) throws Exception {
        try (TestApplication app = start()) {
            for (int i = 0; i < MESSAGES; i++) {
                app.send(this.topic, "id-" + i, "effect-" + i);
            }
        }
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
        jdbc.execute("create table if not exists effect (name varchar(1000) not null)");
        int kills = (listener == CrashingApplication.Listener.class) ? 2 : 1;
        for (int kill = 1; kill <= kills; kill++) {
            int appliedBefore = applied(jdbc);
            Process process = launch(listener, CrashPoint.KILLED);
            try {
                Awaitility.await("work before kill " + kill)
                        .atMost(Duration.ofSeconds(120))
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> applied(jdbc) > appliedBefore + 50);
            } finally {
                process.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
            }
        }
        assertThat(applied(jdbc)).as("killed before all was done").isLessThan(MESSAGES);
        try (TestApplication app = start(listener)) {
            app.awaitCaughtUp(this.group, this.topic);
            int listeners = 1;
            if (listener == CrashingApplication.PollListener.class) {
                app.awaitCaughtUp(this.group + "-versions", this.topic);
                listeners = 2;
            }
            assertThat(app.bean(Effects.class).counts())
                    .hasSize(listeners * MESSAGES)
                    .allSatisfy((name, count) -> assertThat(count).isOne());
        }
    }

    private static int applied(JdbcTemplate jdbc) {
        return jdbc.queryForObject("select count(*) from effect where name like 'effect-%'", Integer.class);
    }

    @Override
    protected TestApplication start(Class<?>... classes) {
        return start(List.of("crash=NEVER", CrashingApplication.SAME_MEMBER), classes);
    }

    private Process launch(Class<?> listener, CrashPoint crash) throws IOException {
        return ChildJvm.start(
                CrashingApplication.class,
                "crash-" + listener.getSimpleName() + "-" + crash,
                this.database.jdbcUrl(),
                this.topic,
                this.group,
                crash.name(),
                listener.getName());
    }
}
