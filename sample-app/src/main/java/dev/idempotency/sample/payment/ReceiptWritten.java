package dev.idempotency.sample.payment;

import java.math.BigDecimal;
import org.springframework.modulith.events.Externalized;

/**
 * An event: a receipt was written.
 *
 * <p>Spring Modulith stores it in the listener's transaction and sends it to Kafka after the commit, at least once: after a
 * crash it may send it again.
 *
 * @param id the id of this message, by which receivers recognize duplicates
 * @param account the account of the payment
 * @param amount the amount of the payment
 */
@Externalized(ReceiptWritten.TOPIC + "::#{account()}")
record ReceiptWritten(String id, String account, BigDecimal amount) {

    /** The topic of the event, with the account as key. */
    static final String TOPIC = "receipts";
}
