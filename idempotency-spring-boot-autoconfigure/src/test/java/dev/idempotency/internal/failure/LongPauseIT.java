package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.testing.TestKafka;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.util.Assert;

/** Pauses that are longer than what happens meanwhile. */
@Tag("slow")
class LongPauseIT extends SharedApplicationTest {

    @BeforeAll
    void start() {
        createTopics(1, "retries", "outages");
        start(
                Listener.class,
                "spring.kafka.consumer.properties.max.poll.interval.ms=5000",
                "spring.kafka.consumer.heartbeat-interval=300ms",
                "idempotency.errors.initial-interval=8s",
                "idempotency.errors.max-interval=8s",
                "idempotency.errors.outage.max-interval=5s");
    }

    @Test
    void aPauseLongerThanThePollIntervalCostsTheConsumerNoPartition() throws Exception {
        send("retries", "to have the group formed");
        awaitCaughtUp("retries");
        List<String> before = members(topic("retries"));
        send("retries", "flaky");
        TopicPartition partition = new TopicPartition(topic("retries"), 0);
        await().until(() -> containerOf("retries")
                .getContainerFor(partition.topic(), partition.partition())
                .isPartitionPaused(partition));
        awaitCaughtUp("retries");
        assertThat(effectsOf("flaky")).containsExactly("flaky 2");
        assertThat(members(topic("retries"))).isEqualTo(before).hasSize(1);
    }

    @Test
    void aPartitionThatWentAwayAndCameBackWithoutTheMessageIsNotWaitedFor() {
        send("outages", "away");
        OutageRegistry outages = this.app.bean(OutageRegistry.class);
        await().until(() -> !outages.current().isEmpty());
        beProcessedByAnother("outages");
        await().until(() -> outages.current().isEmpty());
    }

    /** Another member of the group, whose name is the first of all, is given the partition and reads to its end. */
    private void beProcessedByAnother(String group) {
        Map<String, Object> configuration = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                TestKafka.bootstrapServers(),
                ConsumerConfig.GROUP_ID_CONFIG,
                topic(group),
                ConsumerConfig.CLIENT_ID_CONFIG,
                "a",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false);
        try (KafkaConsumer<byte[], byte[]> other =
                new KafkaConsumer<>(configuration, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            other.subscribe(List.of(topic(group)));
            await().until(() -> !other.poll(Duration.ofMillis(100)).isEmpty());
            other.commitSync();
        }
    }

    private static List<String> members(String group) throws Exception {
        try (Admin admin = TestKafka.admin()) {
            return admin
                    .describeConsumerGroups(List.of(group))
                    .all()
                    .get(30, TimeUnit.SECONDS)
                    .get(group)
                    .members()
                    .stream()
                    .map(MemberDescription::consumerId)
                    .toList();
        }
    }

    static class Listener extends HasEffects {

        private final AtomicInteger attempts = new AtomicInteger();

        @OfKind("retries")
        void onRetry(String payload) {
            if (payload.equals("flaky")) {
                this.effects.happen("flaky " + this.attempts.incrementAndGet());
                Assert.state(this.attempts.get() > 1, "for the test");
            }
        }

        @OfKind("outages")
        void onOutage(String payload) {
            throw new RecoverableDataAccessException("for the test");
        }
    }
}
