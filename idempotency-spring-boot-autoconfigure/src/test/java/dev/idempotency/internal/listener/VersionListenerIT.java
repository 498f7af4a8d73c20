package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.Stale;
import dev.idempotency.retention.Cleanup;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** What the delivery contract does not say of versions. */
@ListenersTest.Application(
        beans = VersionListenerIT.Scheduler.class,
        properties = {
            "idempotency.retention=2d",
            "management.endpoints.web.exposure.include=idempotency",
            "management.endpoint.idempotency.access=unrestricted"
        })
class VersionListenerIT extends ListenersTest {

    private static final String ENTITY = "#payload.split('=')[0]";
    private static final String VERSION = "#payload.split('=')[1]";
    private static final String TIME = "=2026-11-17T09:30:00Z";

    private List<String> stale(Class<? extends Listener> listener) {
        return outcomes(listener).stale.stream()
                .map(Stale::id)
                .map(MessageId::value)
                .toList();
    }

    private List<String> duplicates(Class<? extends Listener> listener) {
        return outcomes(listener).duplicates.stream()
                .map(Duplicate::id)
                .map(MessageId::value)
                .toList();
    }

    @Test
    void theEndpointShowsAndForgetsVersions() {
        assertDelivered("Records", ":a=1 :a=3 :b=2 :none :c== :c=1.5 :a=4", "a@1 a@3 a@4 b@2", "none c== c=1.5");
        IdempotencyEndpoint endpoint = this.app.bean(IdempotencyEndpoint.class);
        assertThat(String.valueOf(endpoint.read("records", null)))
                .contains("strategy=VERSION", "version from expression '" + VERSION + "'", "oldestAge=PT");
        assertThat(String.valueOf(endpoint.read("records", "a"))).contains("version=4", "processed=true");
        assertThat(String.valueOf(endpoint.read("records", "x"))).contains("processed=false");
        for (int status : new int[] {204, 404}) {
            assertThat(endpoint.forget("records", "b", null, null, SecurityContext.NONE)
                            .getStatus())
                    .isEqualTo(status);
        }
        deliver(Records.class, ":b=1");
        assertThat(effects(Records.class)).contains("b@1");
        assertThat(this.app.bean(Cleanup.class).run().deletedByTask()).containsKey("versions");
    }

    /** The application's own error handler is told which one it is. */
    @Test
    void aVersionThatDoesNotCompareFailsAlone() {
        Class<HandledBatches> listener = HandledBatches.class;
        deliver(
                listener,
                ":a=1",
                ":b=5",
                ":a" + TIME,
                ":a=4",
                ":b" + TIME,
                ":c=2026-11-17T10:30:00+01:00",
                ":c" + TIME,
                ":c=2026-11-17T10:30:00.000000001+01:00");
        assertThat(effects(listener))
                .containsExactlyInAnyOrder(
                        "a=1", "a=4", "b=5", "c=2026-11-17T10:30:00+01:00", "c=2026-11-17T10:30:00.000000001+01:00");
        assertThat(givenUp(listener)).containsExactly("a" + TIME, "b" + TIME);
        assertThat(duplicates(listener)).containsExactly("c@2026-11-17T09:30:00Z");
    }

    @Test
    void whatIsRetriedWhenSomethingNewerHasBeenProcessedIsStale() {
        send(Retried.class, ":a=1=fails", ":b=1=fails", ":a=2", ":a=0");
        this.app
                .bean(KafkaListenerEndpointRegistry.class)
                .getListenerContainer(topic(Retried.class))
                .start();
        awaitCaughtUp("Retried");
        // The retry topic is read when all of its own has been.
        startContainers(Retried.class);
        Awaitility.await().untilAsserted(() -> {
            assertThat(effects(Retried.class)).containsExactly("a@2", "b@1");
            assertThat(stale(Retried.class)).containsExactlyInAnyOrder("a@0", "a@1");
        });
    }

    static class Records extends Listener {

        @OwnTopic
        @IdempotentListener(
                consumer = "records",
                strategy = DeduplicationStrategy.VERSION,
                key = ENTITY,
                version = VERSION)
        void on(String payload) {
            happen(IdempotencyContext.current().messageId().value());
        }
    }

    @Container(factory = "handled")
    @IdempotentListener(strategy = DeduplicationStrategy.VERSION, key = ENTITY, version = VERSION)
    static class HandledBatches extends OfBatches {}

    static class Retried extends Listener {

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 100), autoStartDltHandler = "false")
        @OwnTopic
        @IdempotentListener(strategy = DeduplicationStrategy.VERSION, key = ENTITY, version = VERSION)
        void on(String payload) {
            happen(IdempotencyContext.current().messageId().value());
            if (payload.endsWith("fails") && !calls().contains("a@2")) {
                throw new IllegalStateException("fails until a@2 is there");
            }
        }
    }

    static class Scheduler {

        /** For the pauses of retry topics. */
        @Bean
        static TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }
    }
}
