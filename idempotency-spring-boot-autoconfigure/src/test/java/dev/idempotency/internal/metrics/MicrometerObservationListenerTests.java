package dev.idempotency.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.DuplicateKind;
import dev.idempotency.MessageId;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.Stale;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MicrometerObservationListenerTests {

    private static final Instant ORIGINAL = Instant.parse("2026-01-02T03:04:05Z");

    private final ObservationRegistry registry = ObservationRegistry.create();
    private final List<Observation.Event> events = new ArrayList<>();
    private final IdempotencyEventListener observer;

    MicrometerObservationListenerTests() {
        this.registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }

            @Override
            public void onEvent(Observation.Event event, Observation.Context context) {
                MicrometerObservationListenerTests.this.events.add(event);
            }
        });
        this.observer = new MicrometerObservationListener(this.registry).forConsumer(MeterEventListenerTests.BILLING);
    }

    private Observation.Context during(Runnable work) {
        Observation observation = Observation.start("listener", this.registry);
        observation.scoped(work);
        observation.stop();
        return observation.getContext();
    }

    private void processed(String id) {
        this.observer.processed(new MessageId("billing", id), MeterEventListenerTests.RECORD);
    }

    private void duplicate(String id) {
        this.observer.duplicate(new Duplicate(
                new MessageId("billing", id),
                MeterEventListenerTests.RECORD,
                DuplicateKind.REDELIVERY,
                ORIGINAL,
                Duration.ofHours(1)));
    }

    private void assertOnlyEvent(String name, String saying) {
        assertThat(this.events).singleElement().satisfies(event -> {
            assertThat(event.getName()).isEqualTo(name);
            assertThat(event.getContextualName()).matches(saying);
        });
    }

    @Test
    void aDuplicateIsAnEventWithTheTimeOfTheOriginal() {
        Observation.Context context = during(() -> duplicate("1"));
        assertOnlyEvent("idempotency.duplicate", ".*" + ORIGINAL + ".*");
        assertThat(context.getHighCardinalityKeyValues())
                .hasSize(4)
                .contains(KeyValue.of("idempotency.original.processed.at", ORIGINAL.toString()));
    }

    @Test
    void aStaleMessageIsAnEventWithBothVersions() {
        MessageId id = new MessageId("billing", "a@3");
        Observation.Context context = during(() -> this.observer.stale(
                new Stale(id, MeterEventListenerTests.RECORD, "3", "5", ORIGINAL, Duration.ofHours(1))));
        assertOnlyEvent("idempotency.stale", "Version 3 after 5");
        assertOutcome(context, "stale");
    }

    private static void assertOutcome(Observation.Context context, String outcome) {
        assertThat(context.getHighCardinalityKeyValue(MicrometerObservationListener.OUTCOME))
                .isEqualTo(KeyValue.of("idempotency.outcome", outcome));
    }

    @Test
    void aBatchWithSeveralOutcomesIsMixed() {
        Observation.Context context = during(() -> {
            processed("1");
            duplicate("2");
            processed("3");
        });
        assertOutcome(context, "mixed");
        assertThat(context.getHighCardinalityKeyValue(MicrometerObservationListener.MESSAGE_ID))
                .as("it is not traced under the id of one of its messages")
                .isNull();
    }

    @Test
    void withoutAnObservationNothingHappens() {
        processed("1");
        duplicate("1");
        assertThat(this.events).isEmpty();
    }
}
