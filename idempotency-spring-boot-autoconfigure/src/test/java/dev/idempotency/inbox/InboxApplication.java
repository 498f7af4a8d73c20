package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.MessageId;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** An application that keeps its messages, which the tests of the inbox share; each consumer has a topic of its own. */
final class InboxApplication implements AutoCloseable {

    /** Of a payload that is kept. */
    static final int MAX_PAYLOAD = 5000;

    static final int MAX_ATTEMPTS = 4;

    private static final String[] CONSUMERS = {
        "any",
        "stripped",
        "given",
        "large",
        "batch",
        "faultyBatch",
        "fallible",
        "deadLettered",
        "many",
        "coordinates",
        "retried",
        "unrecorded",
        "unkept"
    };

    private final String suffix = TestKafka.uniqueName("");
    private final TestDatabase database = TestPostgres.createDatabase();
    private final TestApplication application;

    private InboxApplication() {
        TestKafka.createTopics(1, Stream.of(CONSUMERS).map(this::topic).toArray(String[]::new));
        this.application = TestApplication.start(
                this.database,
                List.of(
                        "suffix=" + this.suffix,
                        "idempotency.inbox.enabled=true",
                        "idempotency.inbox.max-payload=" + MAX_PAYLOAD + "B",
                        "idempotency.inbox.retention.processed=2d",
                        "idempotency.inbox.retention.failed=10d",
                        "idempotency.cleanup.interval=-",
                        "idempotency.errors.initial-interval=1ms",
                        "idempotency.errors.max-interval=1ms",
                        "idempotency.errors.max-attempts=" + MAX_ATTEMPTS),
                InboxListeners.class,
                SimpleMeterRegistry.class);
    }

    TestApplication application() {
        return this.application;
    }

    Inbox inbox() {
        return this.application.bean(Inbox.class);
    }

    String topic(String consumer) {
        return consumer + this.suffix;
    }

    void send(String consumer, String id, String payload) {
        this.application.send(topic(consumer), id, payload);
    }

    void awaitCaughtUp(String consumer) {
        this.application.awaitCaughtUp(topic(consumer), topic(consumer));
    }

    /** Lets the listener fail at that payload that many times. */
    void failAt(String payload, int times) {
        this.application.bean(InboxListeners.class).failAt(payload, times);
    }

    /** The effects whose names begin like this, sorted, with repetition. */
    List<String> effects(String prefix) {
        return this.application.bean(Effects.class).all().stream()
                .filter(name -> name.startsWith(prefix))
                .toList();
    }

    InboxMessage message(String consumer, String id) {
        InboxMessage message = inbox().find(new MessageId(consumer, id));
        assertThat(message).as("message %s of %s", id, consumer).isNotNull();
        return message;
    }

    InboxEntry awaitStatus(String consumer, String id, InboxStatus status, int attempts) {
        Awaitility.await("message " + id + " " + status)
                .atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> {
                    InboxEntry entry = message(consumer, id).entry();
                    assertThat(entry.status()).isEqualTo(status);
                    assertThat(entry.attempts()).isEqualTo(attempts);
                });
        return message(consumer, id).entry();
    }

    List<InboxEntry> entries(String consumer, InboxStatus status) {
        return inbox().find(InboxQuery.ALL.withConsumer(consumer).withStatus(status))
                .entries();
    }

    double count(String consumer, String meter) {
        return this.application
                .bean(MeterRegistry.class)
                .get(meter)
                .tag(IdempotencyMeters.CONSUMER, consumer)
                .counter()
                .count();
    }

    @Override
    public void close() {
        this.application.close();
        this.database.close();
    }

    /** Gives the tests the one application, which ends with the last of them. */
    static final class Shared implements ParameterResolver {

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == InboxApplication.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return context.getRoot()
                    .getStore(ExtensionContext.Namespace.GLOBAL)
                    .computeIfAbsent(InboxApplication.class, type -> new InboxApplication());
        }
    }
}
