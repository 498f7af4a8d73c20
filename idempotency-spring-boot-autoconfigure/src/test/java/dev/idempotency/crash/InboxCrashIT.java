package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.ChildJvm;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.inbox.Inbox;
import dev.idempotency.inbox.InboxEntry;
import dev.idempotency.inbox.InboxStatus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.kafka.annotation.KafkaListener;

class InboxCrashIT extends ApplicationTest {

    @Test
    void aJvmThatDiesBetweenTheRollbackAndTheRecordOfTheFailureLosesNothingButThatRecord() throws Exception {
        try (TestApplication app = start()) {
            app.send(this.topic, "1", "paid");
        }
        Process process =
                ChildJvm.start(Application.class, "crash-inbox", this.database.jdbcUrl(), this.topic, this.group);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(137);
        JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(this.database.jdbcUrl()));
        assertThat(jdbc.queryForObject("select count(*) from effect", Integer.class))
                .as("rolled back")
                .isZero();
        assertThat(jdbc.queryForObject("select count(*) from idempotency_inbox", Integer.class))
                .as("not recorded")
                .isZero();
        try (TestApplication app = start(List.of("fail=false", CrashingApplication.SAME_MEMBER), Listener.class)) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("paid");
            InboxEntry entry =
                    app.bean(Inbox.class).find(new MessageId("ledger", "1")).entry();
            assertThat(entry.status()).isEqualTo(InboxStatus.PROCESSED);
            assertThat(entry.attempts()).isOne();
        }
    }

    /** Runs in a JVM of its own, so that it can die. */
    static final class Application {

        private Application() {}

        public static void main(String[] arguments) {
            TestApplication.start(
                    arguments[0],
                    List.of(
                            CrashingApplication.SAME_MEMBER,
                            "topic=" + arguments[1],
                            "group=" + arguments[2],
                            "fail=true"),
                    Listener.class,
                    DiesBeforeTheRecord.class);
        }
    }

    /** It is asked what kind of failure it is when the transaction has been rolled back, before that is recorded. */
    static final class DiesBeforeTheRecord implements FailureClassifier {

        @Override
        public FailureKind classify(Throwable failure) {
            Runtime.getRuntime().halt(137);
            return FailureKind.MESSAGE;
        }
    }

    @Import(Effects.class)
    static class Listener {

        private final Effects effects;
        private final boolean fail;

        Listener(Effects effects, @Value("${fail}") boolean fail) {
            this.effects = effects;
            this.fail = fail;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "ledger", inbox = "true")
        void on(String payload) {
            this.effects.happen(payload);
            if (this.fail) {
                throw new IllegalStateException("told to fail");
            }
        }
    }
}
