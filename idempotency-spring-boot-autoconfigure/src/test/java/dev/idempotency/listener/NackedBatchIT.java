package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.Acknowledgment;

class NackedBatchIT extends OneBatchTest {

    @Test
    void whatIsNegativelyAcknowledgedBeforeAnUnusableRecordComesAgain() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), NacksOnce.class, "1:a", "2:b", ":no key", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(deadLetters()).containsExactly("no key");
        }
    }

    @Test
    void aNegativeAcknowledgmentWhileABatchIsTakenApartConcernsItsRecordAlone() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), FailsThenNacks.class, "1:a", "2:b", "3:c", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c", "d");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Import(Effects.class)
    static class NacksOnce {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        NacksOnce(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            payloads.forEach(this.effects::happen);
            if (this.calls.incrementAndGet() == 1) {
                acknowledgment.nack(0, Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    @Import(Effects.class)
    static class FailsThenNacks {

        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger nacks = new AtomicInteger();
        private final Effects effects;

        FailsThenNacks(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            payloads.forEach(this.effects::happen);
            if (this.calls.incrementAndGet() == 1) {
                throw new IllegalStateException("the first time");
            }
            if (payloads.contains("c") && this.nacks.incrementAndGet() <= 6) {
                acknowledgment.nack(payloads.indexOf("c"), Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }
}
