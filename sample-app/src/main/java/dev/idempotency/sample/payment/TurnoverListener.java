package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentListener;
import java.math.BigDecimal;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * Adds up payments in batches, with one transaction per batch.
 *
 * <p>The list contains only new payments, each of them once. It is never empty: if a whole batch has been processed before,
 * the method is not called.
 */
@Component
class TurnoverListener {

    private final JdbcClient jdbc;

    TurnoverListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = Payment.TOPIC, groupId = "turnover", batch = "true")
    @IdempotentListener("turnover")
    void onPayments(List<Payment> payments) {
        BigDecimal sum = payments.stream().map(Payment::amount).reduce(BigDecimal.ZERO, BigDecimal::add);
        this.jdbc
                .sql("update turnover set payments = payments + :count, amount = amount + :sum")
                .param("count", payments.size())
                .param("sum", sum)
                .update();
    }
}
