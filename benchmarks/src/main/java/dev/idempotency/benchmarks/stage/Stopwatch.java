package dev.idempotency.benchmarks.stage;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.RecordInterceptor;

/**
 * The clock around a listener, at the container: it runs from the first record's delivery to the return of the listener
 * from the last one, which is after its commit. The same for every contender; the start of the consumer is left out,
 * the polls and offset commits in between are not.
 */
final class Stopwatch implements RecordInterceptor<Object, Object>, BatchInterceptor<Object, Object> {

    private volatile Run run = new Run(0);

    /** Sets the clock to zero, to stop after that many records. */
    Run reset(int records) {
        Run next = new Run(records);
        this.run = next;
        return next;
    }

    @Override
    public ConsumerRecord<Object, Object> intercept(
            ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        this.run.delivered();
        return record;
    }

    @Override
    public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
        this.run.done(1);
    }

    @Override
    public void failure(ConsumerRecord<Object, Object> record, Exception exception, Consumer<Object, Object> consumer) {
        this.run.failed(exception);
    }

    @Override
    public ConsumerRecords<Object, Object> intercept(
            ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
        this.run.delivered();
        return records;
    }

    @Override
    public void success(ConsumerRecords<Object, Object> records, Consumer<Object, Object> consumer) {
        this.run.done(records.count());
    }

    @Override
    public void failure(
            ConsumerRecords<Object, Object> records, Exception exception, Consumer<Object, Object> consumer) {
        this.run.failed(exception);
    }

    /** One measurement. Written by the consumer's thread alone, and read when that has opened the latch. */
    static final class Run {

        private final long[] latencies;
        private final CountDownLatch finished = new CountDownLatch(1);
        private int done;
        private long firstDelivery;
        private long lastDelivery;
        private long end;
        private @Nullable Exception failure;

        Run(int records) {
            this.latencies = new long[records];
        }

        void delivered() {
            this.lastDelivery = System.nanoTime();
            if (this.done == 0) {
                this.firstDelivery = this.lastDelivery;
            }
        }

        void done(int records) {
            this.end = System.nanoTime();
            for (int i = 0; i < records && this.done < this.latencies.length; i++) {
                this.latencies[this.done++] = this.end - this.lastDelivery;
            }
            if (this.done == this.latencies.length) {
                this.finished.countDown();
            }
        }

        void failed(Exception exception) {
            this.failure = exception;
            this.finished.countDown();
        }

        Measurement await(String listener, Duration patience) {
            try {
                if (!this.finished.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException("The listener %s did not finish %d records within %s"
                            .formatted(listener, this.latencies.length, patience));
                }
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(ex);
            }
            if (this.failure != null) {
                throw new ListenerFailedException(listener, this.failure);
            }
            return new Measurement(this.end - this.firstDelivery, this.latencies);
        }
    }
}
