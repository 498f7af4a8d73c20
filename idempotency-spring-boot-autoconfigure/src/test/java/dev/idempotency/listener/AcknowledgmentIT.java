package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.IdempotentListener;
import dev.idempotency.NotAcknowledgedException;
import dev.idempotency.Strategy;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ConsumerSeekAware;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.util.backoff.FixedBackOff;

/** What the delivery contract does not say of acknowledgments. */
class AcknowledgmentIT extends ListenersTest {

    @Override
    Class<?>[] beans() {
        return new Class<?>[] {Factories.class};
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Manual       | 1:a 1:a 1:a     | a
            ByHeader     | 1:a 1:a         | a
            ByOffset     | 1:a 2:nacks 3:c | a c nacks
            InPlace      | 1:a 2:b 3:c     | a b c
            FromMemory   | 1:a 2:b 3:c     | a b c
            """)
    void whatIsAcknowledgedOrNotIsAppliedOnce(String name, String messages, String effects) {
        assertDelivered(name, messages, effects, null);
        deliverAgain(listener(name));
        assertThat(effects(listener(name))).containsExactly(effects.split(" "));
    }

    @ParameterizedTest
    @ValueSource(classes = {Late.class, SeeksBack.class, SeeksBackByCallback.class})
    void whatTheListenerDoesNotAcknowledgeIsRolledBackAndRedelivered(Class<? extends Listener> listener) {
        deliver(listener, "1:a", "2:b");
        assertThat(effects(listener)).containsExactly("a", "b");
        assertThat(this.app.bean(listener).calls()).containsExactly("a", "a", "b");
        assertThat(failures(listener)).singleElement().isInstanceOf(NotAcknowledgedException.class);
    }

    @Test
    void anAcknowledgmentAfterTheListenerHasReturnedIsRefused() {
        deliver(Later.class, "1:a");
        assertThatIllegalStateException()
                .isThrownBy(this.app.bean(Later.class).kept()::acknowledge)
                .withMessageContaining("before it returns");
    }

    static class Manual extends Listener {

        @OwnTopic(containerFactory = "manual")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            happen(payload);
            acknowledgment.acknowledge();
        }
    }

    static class ByHeader extends Listener {

        @OwnTopic(containerFactory = "manual")
        @IdempotentListener
        void on(Message<String> message, @Header(KafkaHeaders.ACKNOWLEDGMENT) Acknowledgment acknowledgment) {
            assertThat(acknowledgment).isInstanceOf(DeferredAcknowledgment.class);
            happen(message.getPayload());
            message.getHeaders()
                    .get(KafkaHeaders.ACKNOWLEDGMENT, Acknowledgment.class)
                    .acknowledge();
        }
    }

    static class ByOffset extends Listener {

        @OwnTopic(containerFactory = "manual")
        @IdempotentListener(strategy = Strategy.OFFSET)
        void on(String payload, Acknowledgment acknowledgment) {
            happen(payload);
            if (payload.equals("nacks") && calls().size() == 2) {
                acknowledgment.nack(Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    /** Fails at the first call, and negatively acknowledges the next ones, which an error handler makes. */
    abstract static class FailsThenNacks extends Listener {

        private int batches;

        void on(List<String> payloads, Acknowledgment acknowledgment, int nacks, RuntimeException failure) {
            happen(payloads);
            this.batches++;
            if (this.batches == 1) {
                throw failure;
            }
            if (this.batches <= 1 + nacks) {
                acknowledgment.nack(0, Duration.ofMillis(10));
            } else {
                acknowledgment.acknowledge();
            }
        }
    }

    static class InPlace extends FailsThenNacks {

        @OwnTopic(batch = "true", containerFactory = "handledManually")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            on(payloads, acknowledgment, 1, new IllegalStateException("the first time"));
        }
    }

    static class FromMemory extends FailsThenNacks {

        @OwnTopic(batch = "true", containerFactory = "keepingInMemory")
        @IdempotentListener
        void on(List<String> payloads, Acknowledgment acknowledgment) {
            on(payloads, acknowledgment, 4, new BatchListenerFailedException("the first time", 0));
        }
    }

    static class Late extends Listener {

        @OwnTopic(containerFactory = "handledManually")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            happen(payload);
            if (calls().size() > 1) {
                acknowledgment.acknowledge();
            }
        }
    }

    static class Later extends Listener {

        private Acknowledgment kept;

        Acknowledgment kept() {
            return this.kept;
        }

        @OwnTopic(containerFactory = "manual")
        @IdempotentListener
        void on(String payload, Acknowledgment acknowledgment) {
            this.kept = acknowledgment;
            acknowledgment.acknowledge();
        }
    }

    static class SeeksBack extends Listener {

        @OwnTopic(containerFactory = "handled")
        @IdempotentListener
        void on(ConsumerRecord<String, String> record, Consumer<?, ?> consumer) {
            happen(record.value());
            if (calls().size() == 1) {
                consumer.seek(new TopicPartition(record.topic(), record.partition()), record.offset());
            }
        }
    }

    static class SeeksBackByCallback extends Listener implements ConsumerSeekAware {

        private ConsumerSeekCallback callback;

        @Override
        public void registerSeekCallback(ConsumerSeekCallback callback) {
            this.callback = callback;
        }

        @OwnTopic(containerFactory = "handled")
        @IdempotentListener
        void on(ConsumerRecord<String, String> record) {
            happen(record.value());
            if (calls().size() == 1) {
                this.callback.seek(record.topic(), record.partition(), record.offset());
            }
        }
    }

    static class Factories {

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> handledManually(
                ConcurrentKafkaListenerContainerFactory<Object, Object> plain, Shared shared) {
            plain.setCommonErrorHandler(shared.errorHandler(20));
            plain.getContainerProperties().setAckMode(AckMode.MANUAL);
            return plain;
        }

        @Bean
        static ConcurrentKafkaListenerContainerFactory<Object, Object> keepingInMemory(
                ConcurrentKafkaListenerContainerFactory<Object, Object> plain) {
            plain.getContainerProperties().setAckMode(AckMode.MANUAL);
            DefaultErrorHandler handler = new DefaultErrorHandler(new FixedBackOff(10, 2));
            handler.setSeekAfterError(false);
            plain.setCommonErrorHandler(handler);
            return plain;
        }
    }
}
