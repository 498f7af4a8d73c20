package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;

/** A batch of which a filter leaves nothing comes as an empty one, as Spring Kafka has it. */
class FilteredBatchIT extends OneBatchTest {

    @ParameterizedTest
    @ValueSource(classes = {ByOffset.class, ById.class})
    void aBatchOfWhichTheFilterLeavesNothingIsNoFailure(Class<?> listener) {
        try (TestApplication app = startWith(List.of(), listener, "1:left out", "2:left out")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Batches.class).sizes()).containsOnly(0);
            assertThat(app.bean(Outcomes.class).failed).hasValue(0);
            assertThat(app.bean(Outcomes.class).retried).hasValue(0);
            app.send(this.topic, "3", "kept");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("kept");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Import({Effects.class, Outcomes.class})
    abstract static class Batches {

        private final List<Integer> sizes = new CopyOnWriteArrayList<>();

        @Autowired
        private Effects effects;

        List<Integer> sizes() {
            return this.sizes;
        }

        void happen(List<String> payloads) {
            this.sizes.add(payloads.size());
            new ArrayList<>(payloads).forEach(this.effects::happen);
        }

        @Bean
        static RecordFilterStrategy<Object, Object> filter() {
            return record -> "left out".equals(record.value());
        }
    }

    static class ByOffset extends Batches {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(strategy = Strategy.OFFSET)
        void on(List<String> payloads) {
            happen(payloads);
        }
    }

    static class ById extends Batches {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(inbox = "true")
        void on(List<String> payloads) {
            happen(payloads);
        }
    }
}
