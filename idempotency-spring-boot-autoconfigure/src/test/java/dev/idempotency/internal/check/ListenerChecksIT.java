package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.FailedChecksException;
import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Finding;
import dev.idempotency.app.ForgetfulStore;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.UniqueConstraint;
import jakarta.persistence.Version;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.domain.Persistable;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListeners;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.annotation.Transactional;

@ExtendWith(OutputCaptureExtension.class)
class ListenerChecksIT {

    private static final String TOPIC = TestKafka.createTopic("checked", 1);
    private static TestDatabase database;

    @BeforeAll
    static void createDatabase() {
        database = TestPostgres.createDatabase();
    }

    @AfterAll
    static void dropDatabase() {
        database.close();
    }

    private static TestApplication start(String property, Class<?>... classes) {
        return TestApplication.start(database, List.of("topic=" + TOPIC, property), classes);
    }

    static FailedChecksException failure(Throwable thrown) {
        return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause)
                .filter(FailedChecksException.class::isInstance)
                .map(FailedChecksException.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError("It did not fail as expected", thrown));
    }

    static void awaitBrokerChecks() {
        Awaitility.await("broker checks").atMost(Duration.ofSeconds(90)).until(() -> !brokerChecksAreRunning());
    }

    private static boolean brokerChecksAreRunning() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("idempotency-broker-checks") && thread.isAlive());
    }

    private static List<String> reported(CapturedOutput output) {
        return output.getAll()
                .lines()
                .filter(line -> line.contains("internal.check."))
                .toList();
    }

    @Test
    void listenersWithoutFaultsAreNamedInTheLogAndLazyOnesCheckedWhenTheyAreCreated(CapturedOutput output) {
        try (TestApplication app = start("any=thing", Faultless.class, LazyListeners.class)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            awaitBrokerChecks();
            assertThat(reported(output)).isEmpty();
            assertThat(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainers())
                    .hasSize(7);

            assertThat(output)
                    .contains("Idempotent consumers: 6", "  'transactional/Faultless.transactional': Faultless.")
                    .contains("  'keyed': Faultless.keyed on [%s], key from expression '#payload', remembered for 30d"
                            .formatted(TOPIC));

            app.bean(LazyFaultless.class);
            assertThat(output).contains("Idempotent consumers: 1", "  'quiet/LazyFaultless.on': LazyFaultless.on on ");
            FailedChecksException failure = failure(catchThrowable(() -> app.bean(LazyFaulty.class)));

            assertThat(failure.findings())
                    .extracting(Finding::check)
                    .containsExactlyInAnyOrder(StartupCheck.NOT_PROXIED, StartupCheck.KEY_EXPRESSION);
            assertThat(failure(catchThrowable(() -> app.bean(LazyRetried.class)))
                            .findings())
                    .extracting(Finding::check)
                    .contains(StartupCheck.LATE_RETRY_TOPIC);
            assertThat(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainers())
                    .hasSize(8);
        }
    }

    /** Hikari's own size is enough for three listeners with three threads each. */
    @ParameterizedTest
    @CsvSource({"3, 10, false", "3, 9, true", "3, 1, true"})
    void aPoolThatListenersCanUseUpIsWarnedOf(int concurrency, int size, boolean warned, CapturedOutput output) {
        List<String> properties = List.of(
                "topic=" + TOPIC,
                "spring.kafka.listener.auto-startup=false",
                "spring.kafka.listener.concurrency=" + concurrency,
                "spring.datasource.hikari.maximum-pool-size=" + size);
        try (TestApplication app = TestApplication.start(database, properties, ThreeListeners.class)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
        }
        awaitBrokerChecks();
        assertThat(reported(output)).hasSize(warned ? 1 : 0);
        if (warned) {
            assertThat(reported(output).get(0))
                    .contains("[pool-size]", "have 9 threads", "the pool has %d connections".formatted(size))
                    .contains("Set spring.datasource.hikari.maximum-pool-size to 10 or more");
        }
    }

    static class ThreeListeners {

        @KafkaListener(topics = "${topic}", groupId = "first")
        @IdempotentListener(lock = "'one'")
        void first(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "second")
        @IdempotentListener
        void second(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "third", batch = "true")
        @IdempotentListener
        void third(List<String> payloads) {}
    }

    @Test
    void aBrokerThatDoesNotAnswerDoesNotHoldUpTheStart(CapturedOutput output) {
        List<String> properties = List.of(
                "topic=unreachable",
                "spring.kafka.bootstrap-servers=localhost:1",
                "spring.kafka.listener.auto-startup=false",
                "idempotency.checks.broker-timeout=60s");
        try (TestApplication app = TestApplication.start(database, properties, Quiet.class)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            assertThat(brokerChecksAreRunning()).isTrue();
        }
        awaitBrokerChecks();
        assertThat(reported(output)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "idempotency.checks.relaxed=reply, dev.idempotency.internal.check.ListenerChecksIT$Replying",
        "idempotency.checks.mode=off, dev.idempotency.internal.check.ListenerChecksIT$Faulty"
    })
    void whatIsRelaxedOrOffIsNotReported(String property, Class<?> listener, CapturedOutput output) {
        try (TestApplication app = start(property, listener)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            awaitBrokerChecks();
            assertThat(reported(output)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"idempotency.checks.mode=warn", "idempotency.checks.relaxed=not-proxied"})
    void aFaultOfARelaxedCheckIsAWarning(String property, CapturedOutput output) {
        try (TestApplication app = start(property, Faulty.class)) {
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            awaitBrokerChecks();
            assertThat(reported(output))
                    .singleElement()
                    .asString()
                    .contains(" WARN ", "[not-proxied]", "The method is final")
                    .endsWith(" See " + StartupCheck.DOCUMENTATION + "checks.md#not-proxied");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            idempotency.checks.mode=off ; Unworkable ; KEY_EXPRESSION ; names the variable #nothing ; Write an expression
            idempotency.checks.mode=off ; Unworkable ; STRATEGY ; is none of [fail, off, warn] ; Write one of these
            spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration ; Replying ; \
            NO_STORE ; There is no store for its claims ; Make one javax.sql.DataSource bean @Primary
            idempotency.checks.mode=warn ; Kept ; INBOX ; defines its own ProcessedMessageStore ; Use the provided store
            spring.autoconfigure.exclude=dev.idempotency.autoconfigure.IdempotencyOperatorsAutoConfiguration ; Stored ; \
            INBOX ; idempotency-operators is not on the class path ; Add dev.idempotency:idempotency-operators
            idempotency.inbox.enabled=true ; Unkept ; INBOX ; does not let the received bytes be kept ; Use a DefaultKafkaC
            spring.kafka.producer.transaction-id-prefix=tx- ; Quiet ; TRANSACTION_MANAGER ; PlatformTransactionManager ; Define one
            """)
    void whatKeepsAListenerFromWorkingIsFound(
            String property, String listener, StartupCheck check, String what, String remedy)
            throws ClassNotFoundException {
        Class<?> type = Class.forName(getClass().getName() + "$" + listener);
        assertThat(failure(catchThrowable(() -> start(property, type))).findings())
                .filteredOn(finding -> finding.check() == check)
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.where()).contains(listener + ".on(String)");
                    assertThat(finding.what()).contains(what);
                    assertThat(finding.remedy()).startsWith(remedy);
                });
    }

    @Test
    void nothingIsCheckedWhenTheLibraryIsSwitchedOff() {
        try (TestApplication app = start("idempotency.enabled=false", Faulty.class, Unworkable.class)) {
            assertThat(app.context().getBeanNamesForType(ListenerChecks.class)).isEmpty();
        }
    }

    static class Stored {

        @KafkaListener(topics = "${topic}", groupId = "stored")
        @IdempotentListener(inbox = "true")
        void on(String payload) {}
    }

    static class Quiet {

        @KafkaListener(topics = "${topic}", groupId = "quiet")
        @IdempotentListener
        void on(String payload) {}
    }

    @Import(ForgetfulStore.class)
    static class Kept extends Stored {}

    static class Unkept extends Quiet {

        @Bean
        @SuppressWarnings("unchecked")
        ConsumerFactory<Object, Object> consumerFactory() {
            ConsumerFactory<Object, Object> delegate =
                    new DefaultKafkaConsumerFactory<>(Map.of("enable.auto.commit", "false"));
            return (ConsumerFactory<Object, Object>) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {ConsumerFactory.class},
                    (proxy, method, arguments) -> method.invoke(delegate, arguments));
        }
    }

    /** Spring makes a subclass of it, which does not name the consumers. */
    @Configuration
    @Import({Faultless.Handlers.class, Faultless.Meta.class, Faultless.Unprotected.class})
    static class Faultless {

        @Bean
        String someBean() {
            return "some bean";
        }

        @Transactional
        @KafkaListener(topics = "${topic}", groupId = "transactional")
        @IdempotentListener
        public void transactional(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "keyed")
        @IdempotentListener(consumer = "keyed", key = "#payload", retention = "30d")
        void keyed(String payload) {}

        @KafkaListener(topics = "${topic}", groupId = "batch", batch = "true")
        @IdempotentListener
        void batch(List<String> payloads) {}

        @KafkaListeners(@KafkaListener(topics = "${topic}", groupId = "repeated"))
        @IdempotentListener
        protected void repeated(String payload) {}

        @IdempotentListener
        @KafkaListener(topics = "${topic}", groupId = "handlers")
        static class Handlers {

            @KafkaHandler
            void onText(String payload) {}

            @KafkaHandler(isDefault = true)
            void onOther(Object payload) {}
        }

        @IdempotentListener
        static class Meta {

            @KafkaListener(topics = "${topic}", groupId = "meta")
            void on(String payload) {}

            void noListener() {}
        }

        static class Unprotected {

            @KafkaListener(topics = "${topic}", groupId = "unprotected", properties = "enable.auto.commit=true")
            final String unprotected(String payload) {
                return payload;
            }
        }
    }

    @Import({LazyFaultless.class, LazyFaulty.class, LazyRetried.class, ThreadPoolTaskScheduler.class})
    static class LazyListeners {}

    @Lazy
    static class LazyRetried {

        @RetryableTopic(attempts = "2")
        @KafkaListener(topics = "${topic}", groupId = "lazy and retried")
        @IdempotentListener
        void on(String payload) {}
    }

    @Lazy
    static class LazyFaultless extends Quiet {}

    @Lazy
    static class LazyFaulty {

        @KafkaListener(topics = "${topic}", groupId = "lazy and faulty")
        @IdempotentListener(key = "#nothing")
        final void on(String payload) {}
    }

    static class Faulty {

        @KafkaListener(topics = "${topic}", groupId = "faulty")
        @IdempotentListener
        final void on(String payload) {}
    }

    static class Unworkable {

        @KafkaListener(topics = "${topic}", groupId = "unworkable")
        @IdempotentListener(key = "#nothing", onConflict = "maybe")
        final void on(String payload) {}
    }

    static class Replying {

        @KafkaListener(topics = "${topic}", groupId = "replying")
        @IdempotentListener
        String on(String payload) {
            return payload;
        }
    }

    @Test
    void onlyEntitiesThatARepositoryMergesAreFound() {
        assertThat(failure(catchThrowable(() -> start("spring.jpa.hibernate.ddl-auto=create", OfEntities.class)))
                        .findings())
                .allSatisfy(finding -> assertThat(finding.check()).isEqualTo(StartupCheck.MERGED_ENTITY))
                .extracting(finding -> finding.what().replaceFirst(", whose.*", ""))
                .containsExactlyInAnyOrder(
                        "The table 'assigned_row' is mapped to " + AssignedRow.class.getName(),
                        "The table 'renamed' is mapped to " + PrimitiveVersion.class.getName());
    }

    @Entity(name = "AssignedRow")
    static class AssignedRow {

        @Id
        String id;
    }

    @Entity
    @Table(name = "renamed")
    static class PrimitiveVersion {

        @Id
        String id;

        @Version
        long version;
    }

    @Entity(name = "Versioned")
    static class Versioned {

        @Id
        String id;

        @Version
        Long version;
    }

    @Entity(name = "Numbered")
    @Table(uniqueConstraints = @UniqueConstraint(name = "numbered_ref", columnNames = "reference"))
    static class Numbered {

        @Id
        @GeneratedValue
        Long id;

        @Column(nullable = false)
        String reference;
    }

    @Entity(name = "New")
    static class New implements Persistable<String> {

        @Id
        String id;

        @Override
        public String getId() {
            return this.id;
        }

        @Override
        public boolean isNew() {
            return true;
        }
    }

    @EntityScan(basePackageClasses = ListenerChecksIT.class)
    @Import(TestApplication.WithJpa.class)
    static class OfEntities {

        @FaultyListeners.Faulty(
                strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT,
                uniqueConstraint = "assigned_row_pkey")
        void assigned(String payload) {}

        @FaultyListeners.Faulty(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "renamed_pkey")
        void primitive(String payload) {}

        @FaultyListeners.Faulty(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "versioned_pkey")
        void versioned(String payload) {}

        @FaultyListeners.Faulty(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "numbered_ref")
        void generated(String payload) {}

        @FaultyListeners.Faulty(strategy = DeduplicationStrategy.UNIQUE_CONSTRAINT, uniqueConstraint = "new_pkey")
        void isNew(String payload) {}
    }
}
