package dev.idempotency.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The examples of {@code docs/testing.md}, which are compiled here and not run: {@link IdempotencyTesterIT} runs the like. */
class DocumentedExamples {

    @SpringBootTest
    class LedgerTest {

        @Autowired
        IdempotencyTester tester;

        @Test
        void aPaymentIsBookedOnce() {
            tester.consumer("ledger").deliver(payment("4711")).twice();

            assertThat(tester.consumer("ledger")).processed("4711").dropped(1);
        }

        private static ProducerRecord<String, Payment> payment(String id) {
            ProducerRecord<String, Payment> record = new ProducerRecord<>("payments", new Payment(id, 100));
            record.headers().add("message-id", id.getBytes(UTF_8));
            return record;
        }
    }

    record Payment(String id, int amount) {}

    static void severalInOnePoll(IdempotencyTester tester) {
        tester.consumer("ledger")
                .deliver(payment("1"), payment("2"), payment("1"))
                .once();
        assertThat(tester.consumer("ledger")).processed("1", "2").dropped(1);
    }

    static void allAssertions(IdempotencyTester tester) {
        assertThat(tester.consumer("ledger"))
                .processed("4711")
                .dropped(3)
                .failed(2)
                .deadLettered(0);
        tester.consumer("ledger").deadLetters();
        tester.consumer("ledger").published();
    }

    private static ProducerRecord<String, Payment> payment(String id) {
        return LedgerTest.payment(id);
    }
}
