package dev.idempotency.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;

class LongPauseIT {

    @Test
    void aPauseLongerThanThePollIntervalCostsTheConsumerNoPartition() throws Exception {
        String topic = TestKafka.createTopic("pauses", 1);
        try (TestDatabase database = TestPostgres.createDatabase();
                TestApplication app = TestApplication.start(
                        database,
                        List.of(
                                "topic=" + topic,
                                "spring.kafka.consumer.properties.max.poll.interval.ms=2000",
                                "idempotency.errors.initial-interval=5s"),
                        Listener.class)) {
            app.send(topic, "1", "to have the group formed");
            app.awaitCaughtUp(topic, topic);
            List<String> before = members(topic);
            app.send(topic, "2", "flaky");
            app.awaitCaughtUp(topic, topic);
            assertThat(app.bean(Work.class).attempts("flaky")).isEqualTo(2);
            assertThat(members(topic)).isEqualTo(before).hasSize(1);
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

    @Import({Effects.class, Work.class})
    static class Listener {

        private final Work work;

        Listener(Work work) {
            this.work = work;
        }

        @KafkaListener(topics = "${topic}", groupId = "${topic}")
        @IdempotentListener("pauses")
        void on(String payload) {
            this.work.on(payload, 0);
        }
    }
}
