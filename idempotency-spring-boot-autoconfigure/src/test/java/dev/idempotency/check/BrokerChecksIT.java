package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.annotation.KafkaListener;

@ExtendWith(OutputCaptureExtension.class)
class BrokerChecksIT {

    private static final String THREAD = "idempotency-broker-checks";
    private static TestDatabase database;

    @BeforeAll
    static void createDatabase() {
        database = TestPostgres.createDatabase();
    }

    @AfterAll
    static void dropDatabase() {
        database.close();
    }

    static void awaitBrokerChecks() {
        Awaitility.await("broker checks").atMost(Duration.ofSeconds(90)).until(() -> !brokerChecksAreRunning());
    }

    private static boolean brokerChecksAreRunning() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals(THREAD) && thread.isAlive());
    }

    @Test
    void topicsThatOutliveTheMemoryOfTheirConsumersAreWarnedOf(CapturedOutput output) throws Exception {
        String prefix = TestKafka.uniqueName("topic");
        createTopic(
                prefix + "-month",
                Map.of(TopicConfig.RETENTION_MS_CONFIG, "" + Duration.ofDays(30).toMillis()));
        createTopic(prefix + "-forever", Map.of(TopicConfig.RETENTION_MS_CONFIG, "-1"));
        createTopic(prefix + "-compacted", Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, "compact"));
        createTopic(
                prefix + "-week",
                Map.of(TopicConfig.RETENTION_MS_CONFIG, "" + Duration.ofDays(7).toMillis()));

        List<String> properties = List.of("prefix=" + prefix, "idempotency.broker-check-timeout=60s");
        try (TestApplication app = TestApplication.start(database, properties, Listeners.class)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            awaitBrokerChecks();
        }

        List<String> told = output.getAll()
                .lines()
                .filter(line -> line.contains("dev.idempotency.check"))
                .toList();
        assertThat(told).hasSize(4);
        assertTold(
                told,
                " WARN ",
                "[topic-retention]",
                "Listeners.month(",
                "The topic '" + prefix
                        + "-month' keeps messages for 30d, but consumer 'g/Listeners.month' remembers them"
                        + " for 7d.",
                "A rewind, or a group whose offsets expired, would apply again what has been forgotten.",
                "Set @IdempotentListener(retention = \"721h\")");
        assertTold(told, " WARN ", "[topic-retention]", "Listeners.pattern(", "-forever' keeps messages for ever");
        assertTold(told, " WARN ", "[topic-retention]", "Listeners.pattern(", "-compacted' keeps messages for ever");
        assertTold(told, " WARN ", "[topic-retention]", "Listeners.pattern(", "-month' keeps messages for 30d");
    }

    private static void assertTold(List<String> told, String... parts) {
        assertThat(told).as(String.join(" … ", parts)).anySatisfy(line -> assertThat(line)
                .contains(parts));
    }

    @Test
    void aBrokerThatDoesNotAnswerDoesNotHoldUpTheStart(CapturedOutput output) {
        List<String> properties = List.of(
                "prefix=unreachable",
                "spring.kafka.bootstrap-servers=localhost:1",
                "spring.kafka.listener.auto-startup=false",
                "spring.kafka.admin.auto-create=false",
                "idempotency.broker-check-timeout=60s");
        try (TestApplication app = TestApplication.start(database, properties, Listeners.class)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            assertThat(brokerChecksAreRunning()).isTrue();
        }
        awaitBrokerChecks();
        assertThat(output.getAll()).doesNotContain("dev.idempotency.check");
    }

    private static void createTopic(String name, Map<String, String> configuration) throws Exception {
        try (Admin admin = TestKafka.admin()) {
            admin.createTopics(List.of(new NewTopic(name, 1, (short) 1).configs(configuration)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    static class Listeners {

        @KafkaListener(topics = "${prefix}-month", groupId = "g", autoStartup = "false")
        @IdempotentListener
        void month(String payload) {}

        @KafkaListener(topics = "${prefix}-week", groupId = "week", autoStartup = "false")
        @IdempotentListener
        void week(String payload) {}

        @KafkaListener(topicPattern = "${prefix}-.*", groupId = "pattern", autoStartup = "false")
        @IdempotentListener
        void pattern(String payload) {}

        @KafkaListener(topics = "${prefix}-absent", groupId = "absent", autoStartup = "false")
        @IdempotentListener
        void absent(String payload) {}
    }
}
