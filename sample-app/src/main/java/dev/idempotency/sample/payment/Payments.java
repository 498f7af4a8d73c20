package dev.idempotency.sample.payment;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.stereotype.Service;

/** Sends payments, some of them more than once, and stores each real payment for comparison. */
@Service
public class Payments {

    private static final List<String> ACCOUNTS = List.of("Alice", "Bob", "Carol", "Dave");

    private final KafkaTemplate<String, String> kafka;
    private final JdbcClient jdbc;
    private final Random random = new Random();

    Payments(KafkaTemplate<String, String> kafka, JdbcClient jdbc) {
        this.kafka = kafka;
        this.jdbc = jdbc;
    }

    /** Creates a new random payment. */
    public Payment invent() {
        String id = UUID.randomUUID().toString();
        String account = ACCOUNTS.get(this.random.nextInt(ACCOUNTS.size()));
        return new Payment(id, account, BigDecimal.valueOf(this.random.nextLong(1_00, 200_00), 2));
    }

    /** Sends the payments and waits for the broker's acknowledgments. A payment that is listed twice is sent twice. */
    public void send(List<Payment> payments) {
        payments.stream().distinct().forEach(this::writeDown);
        CompletableFuture<?>[] sent =
                payments.stream().map(this::message).map(this.kafka::send).toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(sent).join();
    }

    /** Sends this many records in random order, including this many duplicates of others. */
    public void sendBurst(int records, int duplicates) {
        List<Payment> burst = new ArrayList<>();
        for (int i = 0; i < records - duplicates; i++) {
            burst.add(invent());
        }
        for (int i = 0; i < duplicates; i++) {
            burst.add(burst.get(this.random.nextInt(records - duplicates)));
        }
        Collections.shuffle(burst, this.random);
        send(burst);
    }

    private Message<Payment> message(Payment payment) {
        return MessageBuilder.withPayload(payment)
                .setHeader(KafkaHeaders.TOPIC, Payment.TOPIC)
                .setHeader(KafkaHeaders.KEY, payment.account())
                .setHeader(Payment.ID_HEADER, payment.id())
                .build();
    }

    private void writeDown(Payment payment) {
        this.jdbc
                .sql("insert into payment (id, account, amount) values (:id, :account, :amount)")
                .paramSource(payment)
                .update();
    }
}
