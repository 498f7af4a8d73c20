package dev.idempotency.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.TestApplication;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.util.Assert;
import org.springframework.util.backoff.FixedBackOff;

class ReceivedRecordsIT extends ApplicationTest {

    private static final AtomicInteger POLLS = new AtomicInteger();

    /** Payloads whose bytes were known when the listener was called. */
    private static final List<String> FOUND = new CopyOnWriteArrayList<>();

    @Test
    void bytesAreKeptWhileTheContainerHoldsTheirRecordsAndNoLonger() {
        try (TestApplication app =
                start(List.of("spring.kafka.listener.auto-startup=false"), Application.class, Listener.class)) {
            Stream.of("1", "pause", "flaky", "2").forEach(payload -> app.send(this.topic, payload, payload));
            MessageListenerContainer container =
                    app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer("received");
            ReceivedRecords records =
                    app.bean(DeserializerInstrumentation.class).records();
            container.start();
            await().until(container::isContainerPaused);
            int before = POLLS.get();
            await().until(() -> POLLS.get() > before + 2);
            assertThat(records.size()).isEqualTo(4);
            container.resume();
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(FOUND).containsExactly("1", "pause", "flaky", "flaky", "2");
            await().until(() -> records.size() == 0);
        }
    }

    /** Containers hold records across polls while they are paused, and after a failure. */
    static class Application {

        @Bean
        static ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> holding() {
            DefaultErrorHandler handler = new DefaultErrorHandler(new FixedBackOff(0, 2));
            handler.setSeekAfterError(false);
            return container -> {
                container.getContainerProperties().setPauseImmediate(true);
                container.setCommonErrorHandler(handler);
                container.setRecordInterceptor(new RecordInterceptor<>() {

                    @Override
                    public void setupThreadState(Consumer<?, ?> consumer) {
                        POLLS.incrementAndGet();
                    }

                    @Override
                    public ConsumerRecord<Object, Object> intercept(
                            ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
                        return record;
                    }
                });
            };
        }
    }

    static class Listener {

        @Autowired
        private DeserializerInstrumentation instrumentation;

        @Autowired
        private KafkaListenerEndpointRegistry registry;

        @KafkaListener(id = "received", topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(ConsumerRecord<String, String> record) {
            ConsumerRecord<byte[], byte[]> received =
                    this.instrumentation.records().find(record);
            boolean first = !FOUND.contains(record.value());
            if (received != null) {
                FOUND.add(new String(received.value(), StandardCharsets.UTF_8));
            }
            if (record.value().equals("pause")) {
                this.registry.getListenerContainer("received").pause();
            }
            Assert.state(!first || !record.value().equals("flaky"), "the first time");
        }
    }
}
