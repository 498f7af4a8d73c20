package dev.idempotency.sample.payment;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** The second hop: notifies the owner of an account of each receipt once, however often it is published. */
@Component
class NotificationListener {

    private final JdbcClient jdbc;

    NotificationListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = ReceiptWritten.TOPIC, groupId = "notifications")
    @IdempotentListener("notifications")
    void onReceipt(ReceiptWritten receipt) {
        this.jdbc
                .sql("insert into notification (account, amount) values (:account, :amount)")
                .paramSource(receipt)
                .update();
    }
}
