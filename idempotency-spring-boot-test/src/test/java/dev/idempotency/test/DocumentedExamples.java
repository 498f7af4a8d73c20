package dev.idempotency.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** Compiles the examples of {@code docs/testing.md}; {@link IdempotencyTesterIT} runs similar ones. */
class DocumentedExamples {

    @SpringBootTest
    class LedgerTest {

        @Autowired
        IdempotencyTester tester;

        @Test
        void aPaymentIsBookedOnce() {
            tester.consumer("ledger").deliver(payment("4711")).twice();

            assertThat(tester.consumer("ledger")).hasProcessed("4711").hasDropped(1);
        }

        private static ProducerRecord<String, String> payment(String id) {
            String json = """
                    {"id": "%s", "account": "a", "amount": 100}
                    """.formatted(id);
            ProducerRecord<String, String> record = new ProducerRecord<>("payments", json);
            record.headers().add("message-id", id.getBytes(UTF_8));
            return record;
        }
    }

    static void severalInOnePoll(IdempotencyTester tester) {
        tester.consumer("ledger")
                .deliver(payment("1"), payment("2"), payment("1"))
                .once();
        assertThat(tester.consumer("ledger")).hasProcessed("1", "2").hasDropped(1);
    }

    static void allAssertions(IdempotencyTester tester) {
        assertThat(tester.consumer("ledger"))
                .hasProcessed("4711")
                .hasDropped(3)
                .hasFailed(2)
                .hasDeadLettered(0);
        tester.consumer("ledger").deadLetters();
        tester.consumer("ledger").retryTopicRecords();
        tester.consumer("ledger").published();
    }

    private static ProducerRecord<String, String> payment(String id) {
        return LedgerTest.payment(id);
    }
}
