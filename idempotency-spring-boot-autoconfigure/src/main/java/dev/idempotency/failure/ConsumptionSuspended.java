package dev.idempotency.failure;

import java.io.Serial;
import org.springframework.kafka.KafkaException;

/** Tells the container that nothing was handled and all records come again. It is expected, so it is not logged. */
final class ConsumptionSuspended extends KafkaException {

    @Serial
    private static final long serialVersionUID = 1L;

    ConsumptionSuspended(Exception cause) {
        super("Consumption is suspended, and all records come again", Level.DEBUG, cause);
    }
}
