package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerPostProcessor;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;

@ExtendWith(OutputCaptureExtension.class)
class TransactionPerPollByDefaultIT extends OneBatchTest {

    private static final String TRANSACTIONS = "select count(distinct xmin::text) from effect where name like ?";

    @Override
    String listenerType() {
        return "single";
    }

    @Test
    void itIsForAllThatCanHaveItAndOneLineSaysWhoCannotAndWhy(CapturedOutput output) {
        List<String> byDefault = List.of("idempotency.transaction-per-poll=true");
        try (TestApplication app = startWith(byDefault, Listeners.class, "1:a", "2:b", "3:c")) {
            for (String consumer : List.of("plain", "apart", "reply", "manual", "record-errors")) {
                app.awaitCaughtUp(this.group + consumer, this.topic);
            }
            assertThat(transactionsOf("plain", app)).isOne();
            assertThat(transactionsOf("apart", app)).isEqualTo(3);
            assertThat(transactionsOf("reply", app)).isEqualTo(3);
            assertThat(transactionsOf("manual", app)).isEqualTo(3);
            assertThat(transactionsOf("record-errors", app)).isEqualTo(3);
            assertThat(output.toString().lines().filter(line -> line.contains("idempotency.transaction-per-poll=true")))
                    .singleElement()
                    .asString()
                    .contains("INFO", "keep a transaction per record")
                    .contains("'reply' (It returns a String")
                    .contains("'manual' (By its acknowledgment mode MANUAL")
                    .contains("'record-errors' (Its container's error handler does not implement handleBatch.)")
                    .doesNotContain("'plain'", "'apart'", "'batch'");
        }
    }

    private static int transactionsOf(String consumer, TestApplication app) {
        Integer count = app.jdbc().queryForObject(TRANSACTIONS, Integer.class, consumer + " %");
        return (count != null) ? count : 0;
    }

    @Import(Effects.class)
    static class Listeners {

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}plain")
        @IdempotentListener("plain")
        void plain(String payload) {
            this.effects.happen("plain " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}apart")
        @IdempotentListener(consumer = "apart", transactionPerPoll = "false")
        void apart(String payload) {
            this.effects.happen("apart " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}reply")
        @IdempotentListener("reply")
        String reply(String payload) {
            this.effects.happen("reply " + payload);
            return payload;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}manual", containerPostProcessor = "manualAcks")
        @IdempotentListener("manual")
        void manual(String payload, Acknowledgment acknowledgment) {
            this.effects.happen("manual " + payload);
            acknowledgment.acknowledge();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}record-errors", containerPostProcessor = "recordErrors")
        @IdempotentListener("record-errors")
        void recordErrors(String payload) {
            this.effects.happen("record-errors " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}batch", batch = "true")
        @IdempotentListener("batch")
        void batch(List<String> payloads) {}

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> manualAcks() {
            return container -> container.getContainerProperties().setAckMode(AckMode.MANUAL);
        }

        @Bean
        static ContainerPostProcessor<Object, Object, AbstractMessageListenerContainer<Object, Object>> recordErrors() {
            return container -> container.setCommonErrorHandler(new CommonErrorHandler() {});
        }
    }
}
