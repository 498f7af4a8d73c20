package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.backoff.FixedBackOff;

class NackedBatchIT extends OneBatchTest {

    @Test
    void whatIsNegativelyAcknowledgedBeforeAnUnusableRecordComesAgain() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), NacksOnce.class, "1:a", "2:b", ":no key", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(deadLetters()).containsExactly("no key");
        }
    }

    @Test
    void aNegativeAcknowledgmentWhileABatchIsTakenApartConcernsItsRecordAlone() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), FailsThenNacks.class, "1:a", "2:b", "3:c", "4:d")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c", "d");
            assertThat(deadLetters()).isEmpty();
        }
    }

    /** The application's error handler holds the batch in memory; what the listener gets of it are copies. */
    @Test
    void aNegativeAcknowledgmentWhileAnErrorHandlerRetriesTheBatchIsNoSuccess() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), RetriedInPlace.class, "1:a", "2:b", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(app.bean(Recovered.class).values).isEmpty();
        }
    }

    @Test
    void aNegativeAcknowledgmentOfABatchThatComesAgainFromMemoryIsNoFailure() {
        try (TestApplication app = startWith(
                List.of("spring.kafka.listener.ack-mode=manual"), ComesAgainFromMemory.class, "1:a", "2:b", "3:c")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "b", "c");
            assertThat(app.bean(Recovered.class).values).isEmpty();
        }
    }

    static class Recovered {

        final List<String> values = new CopyOnWriteArrayList<>();

        DefaultErrorHandler afterRetries(int retries) {
            return new DefaultErrorHandler(
                    (record, exception) -> this.values.add(String.valueOf(record.value())),
                    new FixedBackOff(10, retries));
        }
    }

    /** Fails at the first call, and negatively acknowledges the next ones. */
    @Import({Effects.class, Recovered.class})
    abstract static class FailsThenNacksAll {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;
        private final int nacks;

        FailsThenNacksAll(Effects effects, int nacks) {
            this.effects = effects;
            this.nacks = nacks;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            payloads.forEach(this.effects::happen);
            int call = this.calls.incrementAndGet();
            if (call == 1) {
                throw failure();
            }
            if (call <= 1 + this.nacks) {
                acknowledgment.nack(0, Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }

        RuntimeException failure() {
            return new IllegalStateException("the first time");
        }
    }

    static class RetriedInPlace extends FailsThenNacksAll {

        RetriedInPlace(Effects effects) {
            super(effects, 1);
        }

        @Bean
        static DefaultErrorHandler errorHandler(Recovered recovered) {
            return recovered.afterRetries(5);
        }

        @Bean
        static RecordFilterStrategy<Object, Object> copies() {
            return new RecordFilterStrategy<>() {

                @Override
                public boolean filter(ConsumerRecord<Object, Object> record) {
                    return false;
                }

                @Override
                public List<ConsumerRecord<Object, Object>> filterBatch(List<ConsumerRecord<Object, Object>> records) {
                    return records.stream().map(RetriedInPlace::copy).toList();
                }
            };
        }

        private static ConsumerRecord<Object, Object> copy(ConsumerRecord<Object, Object> record) {
            ConsumerRecord<Object, Object> copy = new ConsumerRecord<>(
                    record.topic(), record.partition(), record.offset(), record.key(), record.value());
            record.headers().forEach(copy.headers()::add);
            return copy;
        }
    }

    static class ComesAgainFromMemory extends FailsThenNacksAll {

        ComesAgainFromMemory(Effects effects) {
            super(effects, 4);
        }

        @Override
        RuntimeException failure() {
            return new BatchListenerFailedException("the first time", 0);
        }

        @Bean
        static DefaultErrorHandler errorHandler(Recovered recovered) {
            DefaultErrorHandler handler = recovered.afterRetries(2);
            handler.setSeekAfterError(false);
            return handler;
        }
    }

    @Import(Effects.class)
    static class NacksOnce {

        private final AtomicInteger calls = new AtomicInteger();
        private final Effects effects;

        NacksOnce(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            payloads.forEach(this.effects::happen);
            if (this.calls.incrementAndGet() == 1) {
                acknowledgment.nack(0, Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    @Import(Effects.class)
    static class FailsThenNacks {

        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger nacks = new AtomicInteger();
        private final Effects effects;

        FailsThenNacks(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            payloads.forEach(this.effects::happen);
            if (this.calls.incrementAndGet() == 1) {
                throw new IllegalStateException("the first time");
            }
            if (payloads.contains("c") && this.nacks.incrementAndGet() <= 6) {
                acknowledgment.nack(payloads.indexOf("c"), Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }
}
