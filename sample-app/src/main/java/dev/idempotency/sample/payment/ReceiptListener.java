package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * Writes a receipt for every payment, and keeps the message itself in the inbox: as it was received, with the number of
 * attempts and the last error. See {@code /actuator/idempotencyinbox}, or query {@code idempotency_inbox_readable}.
 */
@Component
class ReceiptListener {

    private final JdbcClient jdbc;

    ReceiptListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = Payment.TOPIC, groupId = "receipts")
    @IdempotentListener(consumer = "receipts", inbox = true)
    void onPayment(Payment payment) {
        this.jdbc
                .sql("insert into receipt (account, amount) values (:account, :amount)")
                .paramSource(payment)
                .update();
    }
}
