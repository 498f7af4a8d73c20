package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Finding;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationBuilder;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/** One application with all faults, and one on a faulty broker, whose findings stand in {@code findings.approved.txt}. */
@ExtendWith(OutputCaptureExtension.class)
class FaultyListenersIT {

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
                            "spring.kafka.consumer.group-id=${group.of-instance}"),
                    Stream.concat(Stream.of(FaultyListeners.class, TestApplication.WithJpa.class), listeners)
                            .toArray(Class[]::new));
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
                assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
                ListenerChecksIT.awaitBrokerChecks();
            }
        } finally {
            broker.destroy();
        }
    }

    private static NewTopic topic(String name, String setting, String value) {
        return new NewTopic(name, 1, (short) 1).configs(Map.of(setting, value));
    }

    static List<Finding> findingsOf(List<String> properties, Class<?>... listeners) {
        try (TestDatabase database = TestPostgres.createDatabase()) {
            return findingsOf(database.jdbcUrl(), properties, listeners);
        }
    }

    private static List<Finding> findingsOf(String jdbcUrl, List<String> properties, Class<?>... listeners) {
        Throwable failure = catchThrowable(
                () -> TestApplication.start(jdbcUrl, properties, listeners).close());
        return ListenerChecksIT.failure(failure).findings();
    }

    /** Shows reviewers the wording of all findings in a diff. {@code -Dfindings.approve=true} writes the file anew. */
    @Test
    void findingsAreWordedAsApproved() throws IOException {
        Path approved = Path.of("src/test/resources/findings.approved.txt");
        String text = findings.stream()
                .filter(finding -> !finding.what().contains("'two-strategies'"))
                .map(finding -> "[%s] %s\n  %s\n  %s\n"
                        .formatted(finding.check(), placesIn(finding.where()), finding.what(), finding.remedy()))
                .sorted()
                .collect(Collectors.joining("\n", "", "\n" + warnings))
                .replaceAll("@[0-9a-f]{4,8}\\b", "@…");
        if (Boolean.getBoolean("findings.approve")) {
            Files.writeString(approved, text);
        }
        assertThat(text).isEqualTo(Files.readString(approved));
    }

    private static String placesIn(String where) {
        return Arrays.stream(where.split("; "))
                .map(place -> place.replaceFirst(", bean .*", "")
                        .replace("dev.idempotency.internal.check.FaultyListeners$", ""))
                .sorted()
                .collect(Collectors.joining("; "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "wrapped",
                "inheritedProtected",
                "soundVersion",
                "soundLock",
                "recovering",
                "batch",
                "offsets",
                "offsetsWithoutText",
                "keptReply",
                "perPoll",
                "payloadKeyPerPoll",
                "recordErrors",
                "constrained",
                "ownLetters",
                "week"
            })
    void whatIsNoFaultIsNotNamed(String method) {
        assertThat(findings).noneMatch(finding -> finding.where().contains("." + method + "("));
        assertThat(warnings.lines().filter(line -> !line.matches("\\[(shared-topic|pool-size)].*")))
                .isNotEmpty()
                .noneMatch(line -> line.contains("." + method + "("));
    }

    /** At whichever of the two is looked at second: reflection has no order. */
    @Test
    void twoStrategiesOfOneConsumerAreFound() {
        assertThat(findings)
                .filteredOn(finding -> finding.what().contains("'two-strategies'"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.what())
                        .contains("DeduplicationStrategy.MESSAGE_ID", "DeduplicationStrategy.OFFSET"));
    }

    /** Without a group, Spring Kafka leaves acknowledgments to the listener, and each message would fail. */
    @ParameterizedTest
    @CsvSource({"Ungrouped, NO_ACKNOWLEDGMENT, Add a groupId", "RetriedByBean, STRATEGY, Remove it"})
    void whatCannotStandBesideOthersIsFound(String listener, StartupCheck check, String remedy) throws Exception {
        Class<?> type = Class.forName(getClass().getName() + "$" + listener);
        assertThat(findingsOf(List.of(), type)).singleElement().satisfies(finding -> {
            assertThat(finding.check()).isEqualTo(check);
            assertThat(finding.remedy()).startsWith(remedy);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2", "autosave"})
    void aConstraintIsRefusedWhereItsViolationsAreNotTold(String database) {
        try (TestDatabase postgres = TestPostgres.createDatabase()) {
            String url = database.equals("h2")
                    ? "jdbc:h2:mem:constraints;DB_CLOSE_DELAY=-1"
                    : postgres.jdbcUrl() + "&autosave=always";
            assertThat(findingsOf(url, List.of(), FaultyListeners.Constrained.class))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.check()).isEqualTo(StartupCheck.STRATEGY);
                        assertThat(finding.what())
                                .startsWith("DeduplicationStrategy.UNIQUE_CONSTRAINT needs PostgreSQL");
                    });
        }
    }

    @Test
    void aLockIsRefusedWhereConnectionsBeginWithASnapshot() {
        String isolation = "spring.datasource.hikari.transaction-isolation=TRANSACTION_REPEATABLE_READ";
        assertThat(findingsOf(List.of(isolation), FaultyListeners.SoundLock.class))
                .singleElement()
                .extracting(Finding::check)
                .isEqualTo(StartupCheck.LOCK);
    }

    @Test
    void theFailureIsAnalyzedForTheReader() {
        assertThat(log)
                .contains("APPLICATION FAILED TO START", "@IdempotentListener cannot keep its promise:")
                .contains("[auto-commit] ", FaultyListeners.Containers.class.getName() + ".autoCommit(String), bean '")
                .contains("     See https://github.com/idempotency-dev/idempotency-spring-boot/blob/main/docs/checks.md"
                        + "#auto-commit" + System.lineSeparator())
                .contains("To start all the same, with a warning: idempotency.checks.relaxed=");
        assertThat(log.lines().filter(line -> line.contains("checks.relaxed=")))
                .noneMatch(line -> line.contains("key-expression"));
    }

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
