package dev.idempotency.app;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.RetryListener;
import org.springframework.util.backoff.FixedBackOff;

/** An error handler that retries at once, and remembers what it saw: every failure, and every record it gave up. */
public class Failures {

    private final List<Exception> seen = new CopyOnWriteArrayList<>();
    private final List<ConsumerRecord<?, ?>> recovered = new CopyOnWriteArrayList<>();

    @Bean
    DefaultErrorHandler rememberingErrorHandler() {
        DefaultErrorHandler handler =
                new DefaultErrorHandler((record, ex) -> this.recovered.add(record), new FixedBackOff(0, 20));
        handler.setRetryListeners(new RetryListener() {

            @Override
            public void failedDelivery(ConsumerRecord<?, ?> record, Exception ex, int deliveryAttempt) {
                Failures.this.seen.add(ex);
            }
        });
        return handler;
    }

    /** What the listener or its interceptor threw, as the error handler found it within its wrapping. */
    public List<Throwable> causes() {
        return this.seen.stream().map(Exception::getCause).toList();
    }

    public List<ConsumerRecord<?, ?>> recovered() {
        return this.recovered;
    }
}
