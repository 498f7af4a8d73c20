package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck.Finding;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationBuilder;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * Starts one application with nearly all faults, one on a faulty broker, and one for each fault that would hide others. The
 * findings are compared with {@code findings.approved.txt}.
 */
@ExtendWith(OutputCaptureExtension.class)
class FaultyListenersIT {

    private static final List<String> SOUND = List.of("""
            wrapped inheritedProtected soundVersion soundLock recovering batch offsets offsetsWithoutText keptReply perPoll
            payloadKeyPerPoll recordErrors constrained ownLetters week versioned generated isNew""".split("\\s+"));

    private static final List<Alone> ALONE = List.of(
            new Alone(Ungrouped.class, "topic=t"),
            new Alone(RetriedByBean.class, "topic=t"),
            new Alone(FaultyListeners.Constrained.class, "spring.datasource.url=jdbc:h2:mem:constraints"),
            new Alone(
                    FaultyListeners.Constrained.class,
                    "spring.datasource.hikari.data-source-properties.autosave=always"),
            new Alone(
                    FaultyListeners.SoundLock.class,
                    "spring.datasource.hikari.transaction-isolation=TRANSACTION_REPEATABLE_READ"),
            new Alone(FaultyTransactionManagers.class, "topic=t"),
            new Alone(ListenerChecksIT.Unworkable.class, "idempotency.checks.mode=off"),
            new Alone(ListenerChecksIT.Kept.class, "idempotency.checks.mode=warn"),
            new Alone(ListenerChecksIT.Unkept.class, "idempotency.inbox.enabled=true"),
            new Alone(ListenerChecksIT.Quiet.class, "spring.kafka.producer.transaction-id-prefix=tx-"),
            new Alone(ListenerChecksIT.OfEntities.class, "spring.kafka.producer.transaction-id-prefix=tx-"),
            new Alone(ListenerChecksIT.BesideEntities.class, "spring.kafka.producer.transaction-id-prefix=tx-"),
            new Alone(
                    ListenerChecksIT.Stored.class,
                    "spring.autoconfigure.exclude=dev.idempotency.autoconfigure.IdempotencyOperatorsAutoConfiguration"),
            new Alone(
                    ListenerChecksIT.Replying.class,
                    "spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"));

    /** Listeners in a separate application, with a property. */
    private record Alone(Class<?> listeners, String property) {}

    private static final List<String> approved = new ArrayList<>();
    private static List<Finding> findings;
    private static String warnings;
    private static String log;

    @BeforeAll
    static void startFaultyApplications(CapturedOutput output) {
        Stream<Class<?>> listeners = Arrays.stream(FaultyListeners.class.getDeclaredClasses())
                .filter(type -> !type.isInterface() && !Modifier.isAbstract(type.getModifiers()))
                .filter(type -> type != FaultyListeners.OnBroker.class);
        try (TestDatabase database = TestPostgres.createDatabase()) {
            findings = findingsOf(
                    database.jdbcUrl(),
                    List.of(
                            "long.name=" + "x".repeat(300),
                            "group.of-instance=${random.uuid}",
                            "spring.jpa.hibernate.ddl-auto=create",
                            "spring.kafka.consumer.group-id=${group.of-instance}"),
                    Stream.concat(Stream.of(FaultyListeners.class, TestApplication.WithJpa.class), listeners)
                            .toArray(Class[]::new));
            findings.forEach(finding -> approved.add(text(finding, "")));
            ALONE.forEach(
                    alone -> findingsOf(database.jdbcUrl(), List.of("topic=t", alone.property()), alone.listeners())
                            .forEach(finding -> approved.add(text(finding, ", with " + alone.property()))));
            startOnBroker(database);
            log = output.getAll();
            warnings = log.lines()
                    .filter(line -> line.contains(" WARN ") && line.contains("internal.check.Findings"))
                    .map(line ->
                            line.substring(line.indexOf(" : [") + 4).replaceAll("[0-9a-f]{8}(-[0-9a-f]{4,12}){4}", "…"))
                    .map(line -> line.split("\\] |: ", 3))
                    .map(parts -> "[%s] %s%n  %s".formatted(parts[0], placesIn(parts[1]), parts[2]))
                    .sorted()
                    .collect(Collectors.joining("\n\n", "", "\n"));
        }
    }

    private static void startOnBroker(TestDatabase database) {
        EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
        broker.brokerProperty("auto.create.topics.enable", "false");
        broker.brokerListProperty("idempotency.test.kafka.without-creation");
        broker.afterPropertiesSet();
        try {
            broker.addTopics(
                    topic("month", TopicConfig.RETENTION_MS_CONFIG, "2592000000"),
                    topic("week", TopicConfig.RETENTION_MS_CONFIG, "604800000"),
                    topic("forever", TopicConfig.RETENTION_MS_CONFIG, "-1"),
                    topic("compacted", TopicConfig.CLEANUP_POLICY_CONFIG, "compact"));
            List<String> properties = List.of(
                    "spring.kafka.bootstrap-servers=" + broker.getBrokersAsString(),
                    "spring.kafka.listener.auto-startup=false",
                    "idempotency.checks.broker-timeout=60s");
            try (TestApplication app = TestApplication.start(database, properties, FaultyListeners.OnBroker.class)) {
                ListenerChecksIT.awaitChecks(app);
            }
        } finally {
            broker.destroy();
        }
    }

    private static NewTopic topic(String name, String setting, String value) {
        return new NewTopic(name, 1, (short) 1).configs(Map.of(setting, value));
    }

    private static List<Finding> findingsOf(String jdbcUrl, List<String> properties, Class<?>... listeners) {
        Throwable failure = catchThrowable(
                () -> TestApplication.start(jdbcUrl, properties, listeners).close());
        return (failure != null) ? ListenerChecksIT.failure(failure).findings() : List.of();
    }

    /** Shows reviewers the wording of all findings in a diff. {@code -Dfindings.approve=true} rewrites the file. */
    @Test
    void findingsAreWordedAsApproved() throws IOException {
        Path file = Path.of("src/test/resources/findings.approved.txt");
        String text = approved.stream()
                .filter(finding -> !finding.contains("'two-strategies'"))
                .sorted()
                .collect(Collectors.joining("\n", "", "\n" + warnings))
                .replaceAll("(HikariPool-|\\$Proxy)\\d+", "$1…")
                .replaceAll("@[0-9a-f]{4,8}\\b", "@…");
        if (Boolean.getBoolean("findings.approve")) {
            Files.writeString(file, text);
        }
        assertThat(text).isEqualTo(Files.readString(file));
    }

    private static String text(Finding finding, String circumstances) {
        return "[%s] %s%s\n  %s\n  %s\n"
                .formatted(finding.check(), placesIn(finding.where()), circumstances, finding.what(), finding.remedy());
    }

    private static String placesIn(String where) {
        return Arrays.stream(where.split("; "))
                .map(place -> place.replaceFirst(", bean .*", "")
                        .replace("dev.idempotency.internal.check.FaultyListeners$", ""))
                .sorted()
                .collect(Collectors.joining("; "));
    }

    @ParameterizedTest
    @FieldSource("SOUND")
    void whatIsNoFaultIsNotNamed(String method) {
        assertThat(findings).noneMatch(finding -> finding.where().contains("." + method + "("));
        assertThat(warnings.lines().filter(line -> !line.matches("\\[(shared-topic|pool-size)].*")))
                .isNotEmpty()
                .noneMatch(line -> line.contains("." + method + "("));
    }

    /** The finding may be at either listener, as reflection has no defined order. */
    @Test
    void twoStrategiesOfOneConsumerAreFound() {
        assertThat(findings)
                .filteredOn(finding -> finding.what().contains("'two-strategies'"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.what())
                        .contains("DeduplicationStrategy.MESSAGE_ID", "DeduplicationStrategy.OFFSET"));
    }

    @Test
    void theFailureIsAnalyzedForTheReader() {
        assertThat(log)
                .contains("APPLICATION FAILED TO START", "@IdempotentListener cannot keep its promise:")
                .contains("[auto-commit] ", FaultyListeners.Containers.class.getName() + ".sendTo(String), bean '")
                .contains("     See https://github.com/idempotency-dev/idempotency-spring-boot/blob/main/docs/checks.md"
                        + "#auto-commit" + System.lineSeparator())
                .contains("To start all the same, with a warning: idempotency.checks.relaxed=");
        // The asynchronous listener is beside others that must be fixed.
        assertThat(log.lines().filter(line -> line.contains("checks.relaxed=")))
                .noneMatch(line -> line.matches(".*(key-expression|async-listener).*"));
    }

    /** Without a group, Spring Kafka leaves acknowledgments to the listener, and each message would fail. */
    static class Ungrouped {

        @KafkaListener(topicPartitions = @TopicPartition(topic = "t", partitions = "0"))
        @IdempotentListener("ungrouped")
        void ungrouped(String payload) {}
    }

    static class RetriedByBean {

        @KafkaListener(topics = "retried-by-bean", groupId = "g")
        @IdempotentListener(strategy = DeduplicationStrategy.OFFSET)
        void retried(String payload) {}

        @Bean
        static RetryTopicConfiguration retries(KafkaTemplate<?, ?> template) {
            return RetryTopicConfigurationBuilder.newInstance()
                    .includeTopic("retried-by-bean")
                    .create(template);
        }
    }
}
