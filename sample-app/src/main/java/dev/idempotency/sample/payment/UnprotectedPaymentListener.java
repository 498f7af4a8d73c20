package dev.idempotency.sample.payment;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * The same listener without {@code @IdempotentListener}, with a separate table, to show the difference.
 *
 * <p>{@code @Transactional} would only help when an attempt fails after its work: a redelivered payment would still be added
 * twice.
 */
@Component
class UnprotectedPaymentListener {

    private final JdbcClient jdbc;

    UnprotectedPaymentListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = Payment.TOPIC, groupId = "unprotected")
    void onPayment(Payment payment) {
        this.jdbc
                .sql("update unprotected_account set balance = balance + :amount where name = :account")
                .paramSource(payment)
                .update();
    }
}
