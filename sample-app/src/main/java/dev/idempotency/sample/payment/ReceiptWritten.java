package dev.idempotency.sample.payment;

import java.math.BigDecimal;
import org.springframework.modulith.events.Externalized;

/**
 * Tells others that a receipt was written.
 *
 * <p>Spring Modulith keeps it in the listener's transaction and sends it to Kafka when that is committed, at least once: after
 * a crash it may send it again.
 *
 * @param id of this message, by which those who receive it know that it came before
 * @param account whom the receipt is for
 * @param amount how much was paid
 */
@Externalized(ReceiptWritten.TOPIC + "::#{account()}")
record ReceiptWritten(String id, String account, BigDecimal amount) {

    /** The topic that it is sent to, with the account as its key. */
    static final String TOPIC = "receipts";
}
