package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Adds every payment to the balance of its account once. This only takes the second annotation. */
@Component
class PaymentListener {

    private final JdbcClient jdbc;

    PaymentListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = Payment.TOPIC, groupId = "ledger")
    @IdempotentListener("ledger")
    void onPayment(Payment payment) {
        this.jdbc
                .sql("update account set balance = balance + :amount where name = :account")
                .paramSource(payment)
                .update();
    }
}
