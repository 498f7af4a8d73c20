package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

/** Instances that come and go while messages are processed. */
class RollingRestartIT extends ApplicationTest {

    private static final int ROUNDS = 3;

    private static final int MESSAGES_A_ROUND = 60;

    @Override
    protected int partitions() {
        return 4;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingIsLostOrAppliedTwiceWithCooperativeRebalances(boolean immediateStop) {
        List<String> properties = List.of(
                // Instances are to come and go while messages are on their way.
                "spring.kafka.producer.properties.linger.ms=5",
                "spring.kafka.consumer.properties.partition.assignment.strategy="
                        + "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
                "spring.kafka.listener.immediate-stop=" + immediateStop);
        try (TestApplication steady = start(properties, Listeners.class)) {
            for (int round = 0; round < ROUNDS; round++) {
                try (TestApplication passing = start(properties, Listeners.class)) {
                    for (int i = 0; i < MESSAGES_A_ROUND; i++) {
                        String id = round + "/" + i;
                        passing.send(this.topic, id, id);
                    }
                }
            }
            for (String kind : List.of("batch", "poll")) {
                steady.awaitCaughtUp(this.group + kind, this.topic);
                assertThat(steady.bean(Effects.class).all())
                        .filteredOn(effect -> effect.startsWith(kind))
                        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, ROUNDS)
                                .boxed()
                                .flatMap(round -> IntStream.range(0, MESSAGES_A_ROUND)
                                        .mapToObj(i -> kind + " " + round + "/" + i))
                                .toList());
            }
        }
    }

    @Import(Effects.class)
    static class Listeners {

        private final Effects effects;

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}batch", batch = "true", concurrency = "2")
        @IdempotentListener("batch")
        void onBatch(List<String> payloads) {
            payloads.forEach(payload -> this.effects.happen("batch " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}poll", concurrency = "2")
        @IdempotentListener(value = "poll", transactionPerPoll = true)
        void onPoll(String payload) {
            this.effects.happen("poll " + payload);
        }
    }
}
