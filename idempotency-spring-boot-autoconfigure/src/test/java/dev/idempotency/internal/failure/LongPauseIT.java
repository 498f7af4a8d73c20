package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.app.HasEffects;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.testing.TestKafka;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.util.Assert;

/** Pauses that outlast the poll interval or a rebalance. */
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

    /** Lets another member of the group, whose client id sorts first, take over the partition and read it to the end. */
    private void beProcessedByAnother(String group) {
        try (Consumer<?, ?> other = this.app.bean(ConsumerFactory.class).createConsumer(topic(group), "a", "")) {
            other.subscribe(List.of(topic(group)));
            await().until(() -> !other.poll(Duration.ofMillis(100)).isEmpty());
            other.commitSync();
        }
    }

    private static List<String> members(String group) throws Exception {
        return TestKafka.sharedAdmin()
                .describeConsumerGroups(List.of(group))
                .describedGroups()
                .get(group)
                .get(30, TimeUnit.SECONDS)
                .members()
                .stream()
                .map(MemberDescription::consumerId)
                .toList();
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
