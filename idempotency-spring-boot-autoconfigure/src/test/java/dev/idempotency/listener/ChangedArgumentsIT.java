package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.messaging.Message;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.util.backoff.FixedBackOff;

/** Listeners that change what they are called with, as they may, and are called again with the same records. */
class ChangedArgumentsIT extends OneBatchTest {

    @ParameterizedTest
    @ValueSource(
            classes = {
                ReversesRecords.class,
                ReversesMessages.class,
                ReversesArray.class,
                DrainsPayloads.class,
                DrainsRecords.class,
                DrainsAndIsRetried.class,
                DrainsAndIsRetriedInPlace.class
            })
    void whatAListenerDoesToItsListsIsNotSeenByItsNextCall(Class<?> listener) {
        try (TestApplication app = startWith(List.of(), listener, "1:a", "2:b", "3:c", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c", "d");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Test
    void aListOfAnotherTypeIsHandedOverAsItIsWhereThatIsAllowed() {
        List<String> relaxed = List.of("idempotency.relaxed-checks=batch-signature");
        try (TestApplication app = startWith(relaxed, TakesLinkedList.class, "1:a", "2:b")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b");
            assertThat(deadLetters()).isEmpty();
        }
    }

    @Import(Effects.class)
    abstract static class FailsOnceAtB {

        private final Set<String> failed = ConcurrentHashMap.newKeySet();

        @Autowired
        private Effects effects;

        void process(String payload, RuntimeException failure) {
            this.effects.happen(payload);
            if (payload.equals("b") && this.failed.add(payload)) {
                throw failure;
            }
        }

        static RuntimeException unnamed() {
            return new IllegalStateException("the first time");
        }
    }

    static class ReversesRecords extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<ConsumerRecord<String, String>> records) {
            Collections.reverse(records);
            records.forEach(record ->
                    process(record.value(), new BatchListenerFailedException("the first time", unnamed(), record)));
        }
    }

    static class ReversesMessages extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<Message<String>> messages) {
            Collections.reverse(messages);
            messages.forEach(message ->
                    process(message.getPayload(), new BatchListenerFailedException("the first time", unnamed(), 1)));
        }
    }

    static class ReversesArray extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String[] payloads) {
            List<String> all = Arrays.asList(payloads);
            Collections.reverse(all);
            all.forEach(payload -> process(payload, new BatchListenerFailedException("the first time", unnamed(), 1)));
        }
    }

    static class DrainsPayloads extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads) {
            while (!payloads.isEmpty()) {
                process(payloads.remove(0), new BatchListenerFailedException("the first time", unnamed(), 1));
            }
        }
    }

    static class DrainsRecords extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<ConsumerRecord<String, String>> records) {
            while (!records.isEmpty()) {
                process(records.remove(0).value(), unnamed());
            }
        }
    }

    @EnableResilientMethods
    static class DrainsAndIsRetried extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        @Retryable(delay = 1)
        void on(List<String> payloads) {
            while (!payloads.isEmpty()) {
                process(payloads.remove(0), unnamed());
            }
        }
    }

    /** The application's error handler holds the batch in memory. */
    static class DrainsAndIsRetriedInPlace extends DrainsRecords {

        @Bean
        static DefaultErrorHandler errorHandler() {
            return new DefaultErrorHandler(new FixedBackOff(10, 5));
        }
    }

    static class TakesLinkedList extends FailsOnceAtB {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(LinkedList<String> payloads) {
            payloads.forEach(payload -> process(payload, unnamed()));
        }
    }
}
