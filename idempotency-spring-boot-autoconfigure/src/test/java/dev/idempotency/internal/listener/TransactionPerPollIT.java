package dev.idempotency.internal.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.KafkaListenerErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.Acknowledgment;

/** An application that uses a transaction per poll by default. */
@ExtendWith(OutputCaptureExtension.class)
@ListenersTest.Application(
        beans = TransactionPerPollIT.Beans.class,
        properties = "idempotency.transaction-per-poll=true")
class TransactionPerPollIT extends ListenersTest {

    @ParameterizedTest
    @CsvSource({"Together, 1", "Apart, 3", "Replying, 3", "Manual, 3", "WithRecordErrors, 3", "Observed, 3"})
    void theRecordsOfAPollShareATransactionWhereThatIsPossible(String name, int transactions) {
        assertDelivered(name, "1:a 2:b 3:c", "a b c", null);
        assertThat(transactionsOf(name)).isEqualTo(transactions);
    }

    private int transactionsOf(String name) {
        return this.app
                .jdbc()
                .queryForObject(
                        "select count(distinct xmin::text) from effect where name like ?", Integer.class, name + " %");
    }

    @Test
    void theLogSaysWhoCannotAndWhy(CapturedOutput output) {
        assertThat(output.toString().lines().filter(line -> line.contains("idempotency.transaction-per-poll=true")))
                .hasSize(4)
                .allMatch(line -> line.contains("INFO"))
                .anyMatch(line -> line.contains("Replying.on' keeps a transaction per record: It returns a String"))
                .anyMatch(
                        line -> line.contains("Manual.on' keeps a transaction per record: By its acknowledgment mode"))
                .anyMatch(line -> line.contains("WithRecordErrors.on' keeps a transaction per record: Its container's"))
                .anyMatch(line -> line.contains("Observed.on' keeps a transaction per record: Its container obs"));
    }

    @Test
    void aRecordThatFailsIsTriedOnceMoreThanItHasAttempts() {
        assertDelivered("Failing", "1:a 2:fails 3:c 4:fails", "a c", "fails fails");
        assertThat(this.app.bean(Failing.class).calls())
                .filteredOn("fails"::equals)
                .as("one call an attempt, and of the first one more, to see that it is not the others' fault")
                .hasSize(4 + 3);
        assertThat(outcomes(Failing.class).retried).as("two retries each").hasValue(4);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            KeyOfRecord   | 1:a 2:a 3:b           | a b   |
            KeyOfPayload  | 1:1 2:01 3:two 4:3 5:1 | 1 3  | two
            Hidden        | 1:1 2:0 3:three 4:4   | 1 4   | 0 three
            Insisting     | 1:a 2:fails-once 3:c  | a c fails-once |
            """)
    void whateverFailsConcernsItsRecordAlone(String name, String messages, String effects, String givenUp) {
        assertDelivered(name, messages, effects, givenUp);
    }

    @Test
    void theInboxTellsOfEachMessageWhatBecameOfIt() {
        assertDelivered("Kept", "1:a 2:fails 3:c", "a c", "fails");
        JdbcTemplate jdbc = this.app.jdbc();
        assertThat(jdbc.queryForList(
                        "select message_id || ' ' || status || ' ' || attempts from idempotency_inbox order by message_id",
                        String.class))
                .containsExactly("1 processed 1", "2 failed 3", "3 processed 1");
        assertThat(jdbc.queryForObject("select last_error from idempotency_inbox where message_id = '2'", String.class))
                .contains("IllegalStateException", "fails");
    }

    @IdempotentListener
    static class Together extends OfRecords {}

    @IdempotentListener(transactionPerPoll = "false")
    static class Apart extends OfRecords {}

    static class Replying extends Listener {

        @OwnTopic
        @IdempotentListener
        String on(String payload) {
            happen(payload);
            return payload;
        }
    }

    static class Manual extends Listener {

        @OwnTopic(containerFactory = "manual")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            happen(payload);
            acknowledgment.acknowledge();
        }
    }

    @Container(factory = "recordErrors")
    @IdempotentListener
    static class WithRecordErrors extends OfRecords {}

    @IdempotentListener
    static class Batches extends OfBatches {}

    @IdempotentListener
    static class Failing extends OfRecords {}

    @IdempotentListener(inbox = "true")
    static class Kept extends OfRecords {}

    @Container(factory = "insisting")
    @IdempotentListener
    static class Insisting extends OfRecords {

        @Override
        void obey(String payload) {
            happen(payload);
            if (payload.equals("fails-once")
                    && calls().stream().filter(payload::equals).count() < 3) {
                throw new IllegalStateException("together, and once alone");
            }
        }
    }

    @Container(factory = "observed")
    @IdempotentListener
    static class Observed extends OfRecords {}

    @IdempotentListener(key = "#record.value()")
    static class KeyOfRecord extends OfRecords {}

    /** The key is known only after the conversion of the record. */
    static class KeyOfPayload extends Listener {

        @OwnTopic
        @IdempotentListener(key = "#payload")
        void on(long number) {
            happen(Long.toString(number));
        }
    }

    static class Hidden extends Listener {

        @OwnTopic(errorHandler = "hiding")
        @IdempotentListener
        void on(int number) {
            obey((number == 0) ? "fails" : Integer.toString(number));
        }
    }

    static class Beans {

        @Bean
        static KafkaListenerErrorHandler hiding() {
            return (message, exception) -> "hidden";
        }

        @Bean
        static ContainerFactory recordErrors(ContainerFactory plain) {
            return plain.with(factory -> factory.setCommonErrorHandler(new CommonErrorHandler() {}));
        }

        /** Uses an error handler that calls the listener again, and skips records that still fail. */
        @Bean
        static ContainerFactory insisting(ContainerFactory plain) {
            plain.setCommonErrorHandler(new CommonErrorHandler() {

                @Override
                public void handleBatch(
                        Exception failure,
                        ConsumerRecords<?, ?> records,
                        Consumer<?, ?> consumer,
                        MessageListenerContainer container,
                        Runnable invokeListener) {
                    try {
                        invokeListener.run();
                    } catch (RuntimeException ex) {
                        LoggerFactory.getLogger(Insisting.class).error("given up", ex);
                    }
                }
            });
            return plain;
        }

        @Bean
        static ContainerFactory observed(ContainerFactory plain) {
            return plain.with(factory -> factory.getContainerProperties().setObservationEnabled(true));
        }
    }
}
