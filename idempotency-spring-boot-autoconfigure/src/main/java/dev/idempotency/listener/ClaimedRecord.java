package dev.idempotency.listener;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * A record whose message has been claimed together with others, in a transaction that is open: its listener is called
 * once, whatever aspects around it do, since what a failed call has written is in that transaction.
 */
final class ClaimedRecord {

    private final ConsumerRecord<?, ?> record;
    private boolean processed;
    private @Nullable Throwable failure;

    ClaimedRecord(ConsumerRecord<?, ?> record) {
        this.record = record;
    }

    ConsumerRecord<?, ?> record() {
        return this.record;
    }

    @Nullable
    Object proceed(TargetCall.Chain aspects) throws Throwable {
        if (this.failure != null) {
            throw this.failure;
        }
        if (this.processed) {
            return null;
        }
        try {
            Object result = aspects.proceed();
            this.processed = true;
            return result;
        } catch (Throwable ex) {
            this.failure = ex;
            throw ex;
        }
    }

    /**
     * Ends the call.
     *
     * @throws Throwable what the listener has thrown, be it that somebody around it has caught it
     */
    void requireProcessed() throws Throwable {
        if (this.failure != null) {
            throw this.failure;
        }
        if (!this.processed) {
            throw new IllegalStateException("The listener was not called: a KafkaListenerErrorHandler hides why");
        }
    }
}
