package dev.idempotency.failure;

import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.ThreadStateProcessor;

/**
 * An interceptor of the application's that cannot end its container: what it throws when records are over goes no further, as
 * the records that follow would be lost, or the consumer's thread; and an error becomes an exception, as listeners' do.
 */
final class GuardedInterceptor {

    private static final Logger logger = LoggerFactory.getLogger(GuardedInterceptor.class);

    private GuardedInterceptor() {}

    private static void quietly(String what, Object interceptor, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error ex) {
            FatalErrors.rethrow(ex);
            logger.error(
                    "{} of {} has failed, which changes nothing for any record",
                    what,
                    interceptor.getClass().getName(),
                    ex);
        }
    }

    private static <T extends @Nullable Object> T withoutErrors(Supplier<T> call) {
        try {
            return call.get();
        } catch (Error ex) {
            FatalErrors.rethrow(ex);
            throw new KafkaException("An interceptor threw an error: " + ex, ex);
        }
    }

    private static void setUp(ThreadStateProcessor interceptor, Consumer<?, ?> consumer) {
        withoutErrors(() -> {
            interceptor.setupThreadState(consumer);
            return true;
        });
    }

    private static void clear(ThreadStateProcessor interceptor, Consumer<?, ?> consumer) {
        quietly("clearThreadState()", interceptor, () -> interceptor.clearThreadState(consumer));
    }

    record OfRecords<K, V>(RecordInterceptor<K, V> delegate) implements RecordInterceptor<K, V> {

        @Override
        public @Nullable ConsumerRecord<K, V> intercept(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            return withoutErrors(() -> this.delegate.intercept(record, consumer));
        }

        @Override
        public void success(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            quietly("success()", this.delegate, () -> this.delegate.success(record, consumer));
        }

        @Override
        public void failure(ConsumerRecord<K, V> record, Exception exception, Consumer<K, V> consumer) {
            quietly("failure()", this.delegate, () -> this.delegate.failure(record, exception, consumer));
        }

        @Override
        public void afterRecord(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            quietly("afterRecord()", this.delegate, () -> this.delegate.afterRecord(record, consumer));
        }

        @Override
        public void setupThreadState(Consumer<?, ?> consumer) {
            setUp(this.delegate, consumer);
        }

        @Override
        public void clearThreadState(Consumer<?, ?> consumer) {
            clear(this.delegate, consumer);
        }
    }

    record OfBatches<K, V>(BatchInterceptor<K, V> delegate) implements BatchInterceptor<K, V> {

        @Override
        public @Nullable ConsumerRecords<K, V> intercept(ConsumerRecords<K, V> records, Consumer<K, V> consumer) {
            return withoutErrors(() -> this.delegate.intercept(records, consumer));
        }

        @Override
        public void success(ConsumerRecords<K, V> records, Consumer<K, V> consumer) {
            quietly("success()", this.delegate, () -> this.delegate.success(records, consumer));
        }

        @Override
        public void failure(ConsumerRecords<K, V> records, Exception exception, Consumer<K, V> consumer) {
            quietly("failure()", this.delegate, () -> this.delegate.failure(records, exception, consumer));
        }

        @Override
        public void setupThreadState(Consumer<?, ?> consumer) {
            setUp(this.delegate, consumer);
        }

        @Override
        public void clearThreadState(Consumer<?, ?> consumer) {
            clear(this.delegate, consumer);
        }
    }
}
