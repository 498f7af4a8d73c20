package dev.idempotency.app;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.event.CleanupRun;
import dev.idempotency.retention.Cleanup;
import dev.idempotency.retention.CleanupTask;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;
import org.springframework.util.backoff.FixedBackOff;

/**
 * An application with everything that Spring Boot auto-configures, from Hibernate to Actuator and a web server. Tests that
 * access it over HTTP share it.
 */
public final class ObservedApplication implements AutoCloseable {

    /** A consumer with an explicit name, whose listener fails for the payload {@code fail}. */
    public static final String BILLING = "billing";

    private final TestDatabase database = TestPostgres.createDatabase();
    private final String billingTopic = TestKafka.createTopic("billing", 1);
    private final String stockTopic = TestKafka.createTopic("stock", 1);
    private final TestApplication application;

    private ObservedApplication() {
        this.application = TestApplication.start(
                this.database,
                List.of(
                        "idempotency.retention-mode=ring",
                        TestApplication.WEB,
                        "spring.kafka.listener.observation-enabled=true",
                        "management.endpoint.health.show-details=always",
                        "management.endpoint.idempotency.access=unrestricted",
                        "idempotency.metrics.store-refresh-interval=50ms",
                        "idempotency.cleanup.enabled=false",
                        "idempotency.claim.timeout=3s",
                        "billing=" + this.billingTopic,
                        "stock=" + this.stockTopic),
                Listeners.class,
                TestApplication.Everything.class);
    }

    public TestApplication application() {
        return this.application;
    }

    /** Sends to {@link #BILLING} and waits until it has been consumed. */
    public void bill(String id, String payload) {
        this.application.send(this.billingTopic, id, payload);
        this.application.awaitCaughtUp(this.billingTopic, this.billingTopic);
    }

    /** Sends a message, a duplicate with another payload, one that fails and one without a key; returns the id of the first. */
    public String billOneOfEachOutcome() {
        String id = UUID.randomUUID().toString();
        bill(id, "once");
        bill(id, "once, with another payload");
        bill(UUID.randomUUID().toString(), "fail");
        bill("", "no key");
        return id;
    }

    /** Sends to the consumer with the default name, and waits until it has been consumed. */
    public void stock(String id, String payload) {
        this.application.send(this.stockTopic, id, payload);
        this.application.awaitCaughtUp(this.stockTopic, this.stockTopic);
    }

    public String billingTopic() {
        return this.billingTopic;
    }

    public String stockTopic() {
        return this.stockTopic;
    }

    /** The default name of a consumer, which contains a slash. */
    public String stockConsumer() {
        return this.stockTopic + "/Listeners.stock";
    }

    /** Completed observations of records of {@link #BILLING}, oldest first. */
    public List<Observation.Context> billingObservations() {
        return this.application.bean(EndedObservations.class).contexts.stream()
                .filter(context -> context instanceof KafkaRecordReceiverContext kafka
                        && this.billingTopic.equals(kafka.getSource()))
                .toList();
    }

    /** Runs the cleanup once, with this backlog in addition to the existing ones. */
    public CleanupRun cleanUp(CleanupTask.Backlog backlog) {
        this.application.bean(GivenBacklog.class).backlog = backlog;
        return this.application.bean(Cleanup.class).run();
    }

    public Actuator actuator() {
        return new Actuator(this.application, null);
    }

    @Override
    public void close() {
        this.application.close();
        this.database.close();
    }

    /** Provides the shared application to tests; it is closed after the last of them. */
    public static final class Shared implements ParameterResolver {

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == ObservedApplication.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return context.getRoot()
                    .getStore(ExtensionContext.Namespace.GLOBAL)
                    .computeIfAbsent(ObservedApplication.class, type -> new ObservedApplication());
        }
    }

    static class Listeners extends HasEffects {

        @KafkaListener(topics = "${billing}", groupId = "${billing}")
        @IdempotentListener(consumer = BILLING, retention = "30d")
        void billing(String payload) {
            this.effects.happen(payload);
            if (payload.equals("fail")) {
                throw new IllegalStateException("told to fail");
            }
        }

        @KafkaListener(topics = "${stock}", groupId = "${stock}")
        @IdempotentListener
        void stock(String payload) {
            this.effects.happen(payload);
        }

        @KafkaListener(topics = "${stock}", groupId = "${stock}-archive")
        @IdempotentListener(consumer = "archive", strategy = DeduplicationStrategy.OFFSET)
        void archive(String payload) {}

        @Bean
        static DefaultErrorHandler noRetries() {
            return new DefaultErrorHandler(new FixedBackOff(0, 0));
        }

        @Bean
        static GivenBacklog givenBacklog() {
            return new GivenBacklog();
        }

        @Bean
        static EndedObservations endedObservations() {
            return new EndedObservations();
        }
    }

    /** A backlog that is set by the test. */
    static final class GivenBacklog implements CleanupTask {

        private volatile Backlog backlog = limit -> 0;

        @Override
        public String name() {
            return "given";
        }

        @Override
        public List<Backlog> backlogs() {
            return List.of(this.backlog);
        }
    }

    static final class EndedObservations implements ObservationHandler<Observation.Context> {

        private final List<Observation.Context> contexts = new CopyOnWriteArrayList<>();

        @Override
        public void onStop(Observation.Context context) {
            this.contexts.add(context);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}
