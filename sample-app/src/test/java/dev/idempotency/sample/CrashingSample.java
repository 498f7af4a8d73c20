package dev.idempotency.sample;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.TaskExecutor;
import org.springframework.kafka.core.KafkaTemplate;

/**
 * The sample with a crash while two receipts are in flight: one was sent to Kafka, but not marked in the outbox, and one was
 * committed, but not sent yet.
 */
class CrashingSample {

    static final int CRASHED = 7;

    private final CountDownLatch sent = new CountDownLatch(1);
    private final AtomicInteger publications = new AtomicInteger();

    public static void main(String[] args) {
        SpringApplication.run(new Class<?>[] {SampleApplication.class, CrashingSample.class}, args);
    }

    /** Runs publications after a commit, and crashes in the second one. */
    @Bean
    TaskExecutor applicationTaskExecutor() {
        return task -> new Thread(() -> {
                    if (this.publications.incrementAndGet() == 1) {
                        task.run();
                    } else {
                        await(this.sent);
                        Runtime.getRuntime().halt(CRASHED);
                    }
                })
                .start();
    }

    @Autowired
    void hearOfNoAcknowledgment(KafkaTemplate<Object, Object> template) {
        template.setProducerInterceptor(new ProducerInterceptor<>() {

            @Override
            public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
                return record;
            }

            @Override
            public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception exception) {
                CrashingSample.this.sent.countDown();
                await(new CountDownLatch(1));
            }

            @Override
            public void configure(Map<String, ?> configs) {}

            @Override
            public void close() {}
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
