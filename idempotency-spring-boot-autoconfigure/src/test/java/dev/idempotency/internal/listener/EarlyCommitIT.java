package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.store.StoreServer;
import dev.idempotency.testing.TestKafka;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;

/** A statement that commits the listener's transaction, on databases that have such statements, does not cost what the listener does after it. */
@ExtendWith(OutputCaptureExtension.class)
class EarlyCommitIT {

    @ParameterizedTest
    @EnumSource(names = {"H2", "MARIADB"})
    void aStatementThatCommitsLosesNothing(StoreServer server, CapturedOutput log) {
        String topic = TestKafka.createTopic("early", 1);
        List<String> properties = List.of("topic=" + topic);
        try (TestApplication app = TestApplication.start(server.emptyDatabase(), properties, Truncating.class)) {
            app.send(topic, "1", "a");
            app.awaitCaughtUp("early", topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a");
            app.bean(Truncating.class).operate();
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "operated");
            assertThat(log).contains("keep such statements out of listeners").doesNotContain("TransactionLost");
        }
    }

    static class Truncating extends HasEffects {

        private final JdbcTemplate jdbc;
        private final IdempotentOperations operations;

        Truncating(JdbcTemplate jdbc, IdempotentOperations operations) {
            this.jdbc = jdbc;
            this.operations = operations;
            jdbc.execute("create table staging (id integer)");
        }

        @Bean
        static IdempotentConsumer operations() {
            return IdempotentConsumer.named("operations");
        }

        void operate() {
            this.operations.execute(MessageId.of("operations", "1"), () -> apply("operated"));
        }

        @KafkaListener(topics = "${topic}", groupId = "early")
        @IdempotentListener
        void on(String payload) {
            apply(payload);
        }

        private void apply(String payload) {
            this.jdbc.execute("truncate table staging");
            this.effects.happen(payload);
        }
    }
}
