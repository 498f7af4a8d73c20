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
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.micrometer.KafkaRecordReceiverContext;

/** Observations of the records of a poll. */
class PollObservationIT extends OneBatchTest {

    private static final List<String> OBSERVED =
            List.of("spring.kafka.listener.observation-enabled=true", "idempotency.errors.max-attempts=1");

    @Override
    String listenerType() {
        return "single";
    }

    @Test
    void eachRecordHasAnObservationThatEndsBeforeTheCommit() {
        try (TestApplication app = startWith(OBSERVED, Ledger.class, "1:a", "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Observations.class).stopped).containsExactly("0 ", "2 ");
        }
    }

    @Test
    void recordsThatAreProcessedByThemselvesCarryTheirOutcome() {
        try (TestApplication app = startWith(OBSERVED, Ledger.class, "1:a", "2:fails", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Observations.class).stopped)
                    .contains("0 ledger processed 1", "1 ledger failed", "2 ledger processed 3");
        }
    }

    static class Observations implements ObservationHandler<KafkaRecordReceiverContext> {

        final List<String> stopped = new CopyOnWriteArrayList<>();

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
}
