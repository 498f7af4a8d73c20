package dev.idempotency.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureKind;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyFailuresTests {

    private static final ConsumerDescription CONSUMER = new ConsumerDescription(
            "billing",
            "listener",
            List.of("topic"),
            "group",
            "somewhere",
            Duration.ofDays(1),
            DeduplicationStrategy.MESSAGE_ID);

    /** An invalid header may concern one message only, and a tombstone does not show that the expression is wrong. */
    @ParameterizedTest
    @CsvSource({
        "headers, missing, payload, true",
        "headers, missing, , true",
        "headers, invalid, payload, false",
        "expression, missing, payload, true",
        "expression, invalid, payload, true",
        "expression, missing, , false"
    })
    void itWaitsIfAllMessagesMayBeLikeThatUntilOneWasProcessed(
            String source, String fault, String payload, boolean waits) {
        RuntimeException unusable = fault.equals("missing")
                ? InvalidMessageKeyException.missing("none")
                : new InvalidMessageKeyException("a bad one", null);
        ConsumerRecord<String, String> record = new ConsumerRecord<>("topic", 0, 0, "key", payload);
        boolean fromHeaders = source.equals("headers");
        for (boolean processedAny : new boolean[] {false, true}) {
            KeyFailures failures = new KeyFailures(
                    CONSUMER,
                    fromHeaders,
                    () -> processedAny,
                    any -> FailureKind.MESSAGE,
                    IdempotencyEventListener.NO_OP);
            assertThat(failures.judge(unusable, record) instanceof ConsumerWaitingException)
                    .isEqualTo(waits && !processedAny);
        }
    }
}
