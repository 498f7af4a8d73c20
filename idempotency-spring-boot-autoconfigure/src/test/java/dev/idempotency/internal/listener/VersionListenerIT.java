package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.retention.Cleanup;
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
            assertThat(outcomes(Retried.class).stale)
                    .extracting(stale -> stale.id().value())
                    .containsExactlyInAnyOrder("a@0", "a@1");
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
