package dev.idempotency.starter;

import dev.idempotency.IdempotentListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@Component
class PaymentListener {

    private final JdbcClient jdbc;

    PaymentListener(JdbcClient jdbc) {
        this.jdbc = jdbc;
        jdbc.sql("create table payment (text varchar(100) not null)").update();
    }

    @KafkaListener(topics = "${payments.topic}")
    @IdempotentListener
    void onPayment(String text) {
        this.jdbc.sql("insert into payment (text) values (?)").param(text).update();
    }
}
