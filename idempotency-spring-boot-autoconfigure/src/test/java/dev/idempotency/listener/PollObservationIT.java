package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.TestApplication;
import dev.idempotency.metrics.ObservationObserver;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;

/** Observations of the records of a poll carry what became of them. */
class PollObservationIT extends OneBatchTest {

    private static final List<String> OBSERVED =
            List.of("spring.kafka.listener.observation-enabled=true", "idempotency.errors.max-attempts=1");

    @Override
    String listenerType() {
        return "single";
    }

    @Test
    void thoseThatAreClaimedTogetherCarryTheirOutcome() {
        try (TestApplication app = startWith(OBSERVED, Ledger.class, "1:a", "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Observations.class).stopped)
                    .containsExactlyInAnyOrder("0 ledger processed 1", "2 ledger processed 2");
        }
    }

    @Test
    void soDoThoseThatAreClaimedOneByOne() {
        try (TestApplication app = startWith(OBSERVED, Intercepted.class, "1:a", "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Observations.class).stopped)
                    .containsExactlyInAnyOrder("0 ledger processed 1", "1 ledger duplicate 1", "2 ledger processed 2");
            assertThat(app.bean(Observations.class).events).containsExactly("1 " + ObservationObserver.DUPLICATE_EVENT);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Ledger.class, Intercepted.class})
    void soDoThoseThatFail(Class<?> listener) {
        try (TestApplication app = startWith(OBSERVED, listener, "1:fails", "2:b", "3:fails", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Observations.class).stopped)
                    .contains("0 ledger failed", "1 ledger processed 2", "2 ledger failed", "3 ledger processed 4");
        }
    }

    static class Observations implements ObservationHandler<KafkaRecordReceiverContext> {

        final List<String> stopped = new CopyOnWriteArrayList<>();
        final List<String> events = new CopyOnWriteArrayList<>();

        @Override
        public void onStop(KafkaRecordReceiverContext context) {
            this.stopped.add(context.getOffset() + " "
                    + Stream.of(
                                    ObservationObserver.CONSUMER,
                                    ObservationObserver.OUTCOME,
                                    ObservationObserver.MESSAGE_ID)
                            .map(context::getHighCardinalityKeyValue)
                            .filter(value -> value != null)
                            .map(KeyValue::getValue)
                            .collect(Collectors.joining(" ")));
        }

        @Override
        public void onEvent(Observation.Event event, KafkaRecordReceiverContext context) {
            this.events.add(context.getOffset() + " " + event.getName());
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof KafkaRecordReceiverContext;
        }
    }

    @Import(Observations.class)
    static class Ledger {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(consumer = "ledger", transactionPerPoll = "true")
        void on(String payload) {
            if (payload.equals("fails")) {
                throw new IllegalStateException(payload);
            }
        }

        @Bean
        static ObservationRegistry observationRegistry() {
            return ObservationRegistry.create();
        }
    }

    @Import(Ledger.class)
    static class Intercepted implements RecordInterceptor<Object, Object> {

        @Override
        public ConsumerRecord<Object, Object> intercept(
                ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
            return record;
        }
    }
}
