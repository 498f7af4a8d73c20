package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.crash.CrashingApplication.CrashPoint;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxQuery;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.result.Steps;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;

/** Processes that crash before, during and after the calls of steps, at every point that makes a difference. */
class StepCrashIT extends ApplicationTest {

    @ParameterizedTest
    @CsvSource({
        "BEFORE_CHARGE, 1, 1",
        "CHARGED_AND_NOT_RECORDED, 2, 1",
        "CHARGE_RECORDED, 1, 1",
        "MAIL_ANNOUNCED, 1, 0",
        "MAILED_AND_NOT_RECORDED, 1, 1",
        "MAIL_RECORDED, 1, 1"
    })
    void aStepIsRepeatedOnlyIfItsProcessDiedBeforeTheRecord(CrashPoint death, int charges, int mails) throws Exception {
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
        jdbc.execute("create table call (step text, key text)");
        CrashingApplication.send(this.topic, 1);
        Process process = CrashingApplication.launch(this.database, this.topic, this.group, death, Listener.class);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("see target/crash-*-%s.log", death).isEqualTo(137);
        try (TestApplication app = start(List.of("crash=NEVER", CrashingApplication.SAME_MEMBER), Listener.class)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(calls(jdbc, "charge")).hasSize(charges);
            assertThat(calls(jdbc, "charge").stream().distinct()).as("one key").hasSize(1);
            assertThat(calls(jdbc, "mail")).hasSize(mails);
            if (death == CrashPoint.MAIL_ANNOUNCED || death == CrashPoint.MAILED_AND_NOT_RECORDED) {
                settleAndReplay(app, mails == 1);
            }
            assertThat(calls(jdbc, "charge")).hasSize(charges);
            assertThat(calls(jdbc, "mail")).as("in the end").hasSize(1);
            assertThat(app.bean(Effects.class).all()).containsExactly("effect-0");
        }
    }

    private void settleAndReplay(TestApplication app, boolean done) {
        MessageId id = new MessageId("dying", "id-0");
        Inbox inbox = app.bean(Inbox.class);
        assertThat(inbox.find(InboxQuery.ALL.withStatus(InboxStatus.UNKNOWN)).entries())
                .hasSize(1);
        assertThat(app.bean(Effects.class).all()).isEmpty();
        assertThat(app.bean(Steps.class).settle(id, "mail", done)).isTrue();
        inbox.replay(id);
        app.awaitCaughtUp(this.group, this.topic);
    }

    private static List<String> calls(JdbcTemplate jdbc, String step) {
        return jdbc.queryForList("select key from call where step = ?", String.class, step);
    }

    static class Listener extends HasEffects {

        @Value("${crash}")
        private CrashPoint death;

        /** Records calls outside the listener's transaction, as the called system would. */
        private final JdbcTemplate elsewhere;

        Listener(@Value("${spring.datasource.url}") String url) {
            this.elsewhere = new JdbcTemplate(new DriverManagerDataSource(url));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "dying", inbox = "true")
        void on(String payload) {
            IdempotencyContext context = IdempotencyContext.current();
            dieAt(CrashPoint.BEFORE_CHARGE);
            context.step("charge", String.class, key -> {
                call("charge", key);
                dieAt(CrashPoint.CHARGED_AND_NOT_RECORDED);
                return key;
            });
            dieAt(CrashPoint.CHARGE_RECORDED);
            context.stepAtMostOnce("mail", () -> {
                dieAt(CrashPoint.MAIL_ANNOUNCED);
                call("mail", payload);
                dieAt(CrashPoint.MAILED_AND_NOT_RECORDED);
            });
            dieAt(CrashPoint.MAIL_RECORDED);
            this.effects.happen(payload);
        }

        private void call(String step, String key) {
            this.elsewhere.update("insert into call (step, key) values (?, ?)", step, key);
        }

        private void dieAt(CrashPoint point) {
            if (this.death == point) {
                CrashingApplication.die();
            }
        }
    }
}
