package dev.idempotency.sample.payment;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.IdempotentListener;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * Writes a receipt for every payment and publishes an event about it, in one transaction: the event is stored in the database
 * and sent after the commit.
 *
 * <p>The message itself is stored in the inbox, as received, with the number of attempts and the last error. See
 * {@code /actuator/idempotencyinbox}, or query {@code idempotency_inbox_readable}.
 */
@Component
class ReceiptListener {

    private final JdbcClient jdbc;
    private final ApplicationEventPublisher events;

    ReceiptListener(JdbcClient jdbc, ApplicationEventPublisher events) {
        this.jdbc = jdbc;
        this.events = events;
    }

    @KafkaListener(topics = Payment.TOPIC, groupId = "receipts")
    @IdempotentListener(consumer = "receipts", inbox = "true")
    void onPayment(Payment payment) {
        this.jdbc
                .sql("insert into receipt (account, amount) values (:account, :amount)")
                .paramSource(payment)
                .update();
        String id = IdempotencyContext.current().deriveKey("receipt");
        this.events.publishEvent(new ReceiptWritten(id, payment.account(), payment.amount()));
    }
}
