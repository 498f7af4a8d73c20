package dev.idempotency.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.Operators;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import dev.idempotency.crash.CrashingApplication.CrashPoint;
import dev.idempotency.redrive.DeadLetter;
import dev.idempotency.redrive.DeadLetterStatus;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.redrive.RedriveReport;
import dev.idempotency.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/** A process that dies after it has sent dead letters back, and before it could say so. */
@Tag("slow")
class RedriveCrashIT extends ApplicationTest {

    private static final int LETTERS = 30;
    private static final int SENT_BEFORE_CRASH = 5;

    @Test
    void whatWasSentBeforeACrashIsSentAgainAppliedOnceAndItsRoundsAreCountedRight() throws Exception {
        TestKafka.createTopics(1, this.topic + "-dlt");
        try (TestApplication app = start(List.of("idempotency.errors.max-attempts=1"), Listener.class)) {
            for (int i = 0; i < LETTERS; i++) {
                app.send(deadLetter((i == SENT_BEFORE_CRASH - 1) ? "always fails" : "letter " + i));
            }
            Process dying = CrashingApplication.launch(
                    this.database, this.topic, this.group, CrashPoint.NEVER, DyingListener.class);
            assertThat(dying.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(dying.exitValue()).as("see target/crash-*.log").isEqualTo(137);
            int sentByTheDead = TopicContents.of(this.topic).size();
            assertThat(sentByTheDead).isBetween(SENT_BEFORE_CRASH, LETTERS - 1);

            Operators operators = Operators.of(app);
            int remembered = (int) operators.letters("dying").stream()
                    .filter(letter -> letter.status() == DeadLetterStatus.REDRIVEN)
                    .count();
            assertThat(remembered).as("remembered before it was sent").isLessThanOrEqualTo(sentByTheDead);
            RedriveReport report = operators.redriveAll("dying");
            assertThat(report.sent()).isEqualTo(LETTERS - remembered);
            assertThat(report.read()).isEqualTo(report.records());
            app.bean(KafkaListenerEndpointRegistry.class).start();
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(TopicContents.of(this.topic)).hasSize(sentByTheDead + LETTERS - remembered);
            assertThat(app.bean(Effects.class).counts())
                    .hasSize(LETTERS - 1)
                    .allSatisfy((name, count) -> assertThat(count).as(name).isOne());
            List<DeadLetter> all = operators.letters("dying");
            assertThat(all.subList(LETTERS, all.size()))
                    .as("whichever copy of the one that fails has come back, it was from the first round")
                    .isNotEmpty()
                    .extracting(DeadLetter::redrives)
                    .containsOnly(1);
        }
    }

    private ProducerRecord<String, String> deadLetter(String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(this.topic + "-dlt", 0, null, id);
        Operators.leadBack(record, this.topic, 0).add("message-id", id.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    static class Listener extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "${group}", autoStartup = "false")
        @IdempotentListener(consumer = "dying")
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.contains("fails")) {
                throw new IllegalStateException("on purpose");
            }
        }
    }

    /** Sends dead letters back until it dies. */
    static class DyingListener extends Listener {

        @Bean
        ApplicationRunner redrive(DeadLetters deadLetters) {
            return arguments -> {
                deadLetters.redriveAll("dying");
                Awaitility.await().until(() -> deadLetters.lastRedrive("dying").sent() >= SENT_BEFORE_CRASH);
                CrashingApplication.die();
            };
        }
    }
}
