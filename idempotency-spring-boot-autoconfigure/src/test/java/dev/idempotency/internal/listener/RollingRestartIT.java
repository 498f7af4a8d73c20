package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.kafka.annotation.KafkaListener;

/** Instances are started and stopped while messages are processed, some of which fail at first. */
@Tag("slow")
class RollingRestartIT extends ApplicationTest {

    private static final int ROUNDS = 3;

    private static final int MESSAGES_A_ROUND = 80;

    @Override
    protected int partitions() {
        return 4;
    }

    /** Parameterized by how partitions are assigned to the instances of a group. */
    @ParameterizedTest
    @CsvSource({
        "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor, true",
        "group.instance.id=instance-%d, false",
        "group.protocol=consumer, false",
        "group.protocol=consumer, true"
    })
    void nothingIsLostOrAppliedTwice(String membership, boolean immediateStop) {
        Listeners.FAILED.clear();
        List<String> sent = new ArrayList<>();
        TestApplication[] instances = {start(membership, 0, immediateStop), start(membership, 1, immediateStop)};
        try {
            for (int round = 0; round < ROUNDS; round++) {
                int restarted = round % instances.length;
                TestApplication other = instances[1 - restarted];
                for (int i = 0; i < MESSAGES_A_ROUND; i++) {
                    if (i == MESSAGES_A_ROUND / 2) {
                        instances[restarted].close();
                    }
                    String id = round + "/" + i;
                    other.send(this.topic, id, id);
                    sent.add(id);
                }
                instances[restarted] = start(membership, restarted, immediateStop);
            }
            for (String kind : List.of("record", "batch", "poll")) {
                instances[0].awaitCaughtUp(this.group + kind, this.topic);
                assertThat(instances[0].bean(Effects.class).all())
                        .filteredOn(effect -> effect.startsWith(kind))
                        .containsExactlyInAnyOrderElementsOf(
                                sent.stream().map(id -> kind + " " + id).toList());
            }
            assertThat(Listeners.FAILED).isNotEmpty();
        } finally {
            for (TestApplication instance : instances) {
                instance.close();
            }
        }
    }

    private TestApplication start(String membership, int instance, boolean immediateStop) {
        return start(
                List.of(
                        // Keeps messages in flight while instances are started and stopped.
                        "spring.kafka.producer.properties.linger.ms=5",
                        "spring.kafka.consumer.properties." + membership.formatted(instance),
                        "spring.kafka.listener.immediate-stop=" + immediateStop),
                Listeners.class);
    }

    static class Listeners extends HasEffects {

        static final Set<String> FAILED = ConcurrentHashMap.newKeySet();

        @KafkaListener(topics = "${topic}", groupId = "${group}record", concurrency = "2")
        @IdempotentListener("record")
        void onRecord(String payload) {
            on("record " + payload);
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}batch", batch = "true", concurrency = "2")
        @IdempotentListener("batch")
        void onBatch(List<String> payloads) {
            payloads.forEach(payload -> on("batch " + payload));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}poll", concurrency = "2")
        @IdempotentListener(value = "poll", transactionPerPoll = "true")
        void onPoll(String payload) {
            on("poll " + payload);
        }

        private void on(String name) {
            this.effects.happen(name);
            if (name.endsWith("7") && FAILED.add(name)) {
                throw new IllegalStateException(name);
            }
        }
    }
}
