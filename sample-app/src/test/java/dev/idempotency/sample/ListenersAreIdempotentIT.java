package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.sample.payment.Payment;
import dev.idempotency.test.IdempotencyTester;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Tests the sample's listeners like a user of the test kit. */
@SampleTest
class ListenersAreIdempotentIT {

    /** The prefix of ids of payments that are not in a topic. */
    static final String ID_PREFIX = "kit-";

    @Autowired
    private IdempotencyTester tester;

    @Autowired
    private JdbcClient jdbc;

    @Test
    void aPaymentThatComesAgainAtTheSameTimeOrAfterACrashIsBookedOnceByEveryListener() {
        ProducerRecord<String, String> payment = payment();
        String id = new String(payment.headers().lastHeader(Payment.ID_HEADER).value(), StandardCharsets.UTF_8);

        assertThat(this.tester.consumer("ledger").deliver(payment).concurrently(5))
                .hasProcessed(id)
                .hasDropped(4);
        assertThat(this.tester.consumer("turnover").deliver(payment, payment).twice())
                .hasProcessed(id)
                .hasDropped(3);
        assertThat(this.tester.consumer("receipts").deliver(payment).withCrashBeforeOffsetCommit())
                .hasProcessed(id)
                .hasDropped(1);
        assertThat(this.tester.consumer("points").deliver(payment).thenRepublished())
                .hasProcessed(id)
                .hasDropped(1);
        await("the notification of the receipt")
                .atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(Books.read(this.jdbc)).matches(Books::areRight));
    }

    /** Creates a payment and stores it as a real one, so that the sums match. */
    private ProducerRecord<String, String> payment() {
        String id = ID_PREFIX + UUID.randomUUID().toString().replace("-", "");
        this.jdbc
                .sql("insert into payment (id, account, amount) values (:id, :account, :amount)")
                .paramSource(new Payment(id, "Alice", new BigDecimal("12.00")))
                .update();
        ProducerRecord<String, String> record = new ProducerRecord<>(
                Payment.TOPIC, "{\"id\": \"%s\", \"account\": \"Alice\", \"amount\": 12.00}".formatted(id));
        record.headers().add(Payment.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
        return record;
    }
}
