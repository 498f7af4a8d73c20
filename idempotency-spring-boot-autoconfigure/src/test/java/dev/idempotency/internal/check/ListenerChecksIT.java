package dev.idempotency.internal.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.idempotency.FailedChecksException;
import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Finding;
import dev.idempotency.app.ForgetfulStore;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.check.FaultyListeners.Faulty;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.support.JdbcTransactionManager;
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

    static void awaitChecks(TestApplication app) {
        assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
        awaitBrokerChecks();
    }

    private static void awaitBrokerChecks() {
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

    /** Hikari's default pool size is enough for their nine threads. */
    @Test
    void listenersWithoutFaultsAreNamedInTheLogAndLazyOnesCheckedWhenTheyAreCreated(CapturedOutput output) {
        try (TestApplication app = start("any=thing", Faultless.class, LazyListeners.class)) {
            awaitChecks(app);
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
        "idempotency.checks.relaxed=reply, Replying, 0",
        "idempotency.checks.mode=off, Final, 0",
        "idempotency.checks.mode=warn, Final, 1",
        "idempotency.checks.relaxed=not-proxied, Final, 1"
    })
    void aFaultOfARelaxedCheckIsAWarningAtTheMost(String property, String listener, int warnings, CapturedOutput output)
            throws ClassNotFoundException {
        try (TestApplication app = start(property, Class.forName(getClass().getName() + "$" + listener))) {
            awaitChecks(app);
            assertThat(reported(output)).hasSize(warnings).allSatisfy(line -> assertThat(line)
                    .contains(" WARN ", "[not-proxied]", "The method is final")
                    .endsWith(" See " + StartupCheck.DOCUMENTATION + "checks.md#not-proxied"));
        }
    }

    @Test
    void nothingIsCheckedWhenTheLibraryIsSwitchedOff() {
        try (TestApplication app = start("idempotency.enabled=false", Final.class, Unworkable.class)) {
            assertThat(app.context().getBeanNamesForType(ListenerChecks.class)).isEmpty();
        }
    }

    static class Stored {

        @Faulty(topics = "${topic}", inbox = "true")
        void on(String payload) {}
    }

    static class Quiet {

        @KafkaListener(topics = "${topic}", groupId = "quiet")
        @IdempotentListener
        void on(String payload) {}
    }

    @EntityScan(basePackageClasses = FaultyListeners.class)
    @Import(TestApplication.WithJpa.class)
    static class OfEntities extends Quiet {}

    static class BesideEntities extends OfEntities {

        @Bean
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }
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

    /** Spring creates a subclass of it, whose name does not appear in the consumers' names. */
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

        @KafkaListener(topics = "${topic}", groupId = "keyed", concurrency = "4")
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
        @Faulty(topics = "${topic}")
        void on(String payload) {}
    }

    @Lazy
    static class LazyFaultless extends Quiet {}

    @Lazy
    static class LazyFaulty {

        @Faulty(topics = "${topic}", key = "#nothing")
        final void on(String payload) {}
    }

    static class Final {

        @Faulty(topics = "${topic}")
        final void on(String payload) {}
    }

    static class Unworkable {

        @Faulty(topics = "${topic}", key = "#nothing", onConflict = "maybe")
        final void on(String payload) {}
    }

    static class Replying {

        @Faulty(topics = "${topic}")
        String on(String payload) {
            return payload;
        }
    }
}
