package dev.idempotency.listener;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.failure.FatalErrors;
import io.micrometer.observation.Observation;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.RecordInterceptor;

/**
 * One record at its listener, with its observation and the application's interceptor around it. They are told how it ended
 * when that is certain, which may be long after it was left: a success that is rolled back is none.
 *
 * <p>What an interceptor throws when it is told of something is logged, and changes nothing: the record is done, or not.
 */
final class RecordVisit<K, V> {

    private static final Logger logger = LoggerFactory.getLogger(RecordVisit.class);

    private final ConsumerRecord<K, V> record;
    private final @Nullable Consumer<K, V> consumer;
    private final @Nullable RecordInterceptor<K, V> interceptor;
    private final Observation observation;
    private final Observation.Scope scope;

    /** Begins the visit. */
    RecordVisit(
            ConsumerRecord<K, V> record,
            @Nullable Consumer<K, V> consumer,
            @Nullable RecordInterceptor<K, V> interceptor,
            Observation observation) {
        this.record = record;
        this.consumer = consumer;
        this.interceptor = interceptor;
        this.observation = observation.start();
        this.scope = this.observation.openScope();
    }

    /** The record as the listener is to see it, or {@code null} if it is to be skipped. */
    @Nullable
    ConsumerRecord<K, V> intercept() {
        return (this.interceptor != null) ? this.interceptor.intercept(this.record, this.consumer) : this.record;
    }

    /** The listener has been called, and the next record may come: what the interceptor did to the thread is undone. */
    void leave() {
        quietly("Closing the scope of the observation", this.scope::close);
        tell("afterRecord()", each -> each.afterRecord(this.record, this.consumer));
    }

    /** Tells something of the record within its observation. */
    void around(Runnable news) {
        Observation.Scope[] opened = new Observation.Scope[1];
        quietly("Opening the scope of the observation", () -> opened[0] = this.observation.openScope());
        try {
            news.run();
        } finally {
            if (opened[0] != null) {
                quietly("Closing the scope of the observation", opened[0]::close);
            }
        }
    }

    /** What the listener did is committed. */
    void succeed() {
        inScope("success()", each -> each.success(this.record, this.consumer));
        quietly("Stopping the observation", this.observation::stop);
    }

    /** What the listener did is rolled back. */
    void fail(Exception failure) {
        Throwable cause = failure.getCause();
        quietly("The observation", () -> this.observation.error((cause != null) ? cause : failure));
        inScope("failure()", each -> each.failure(this.record, failure, this.consumer));
        quietly("Stopping the observation", this.observation::stop);
    }

    private void inScope(String what, java.util.function.Consumer<RecordInterceptor<K, V>> call) {
        if (this.interceptor != null) {
            quietly("The scope of the observation", () -> this.observation.scoped(() -> tell(what, call)));
        }
    }

    private void tell(String what, java.util.function.Consumer<RecordInterceptor<K, V>> call) {
        RecordInterceptor<K, V> told = this.interceptor;
        if (told != null) {
            quietly(what + " of " + told.getClass().getName(), () -> call.accept(told));
        }
    }

    private void quietly(String what, Runnable call) {
        try {
            call.run();
        } catch (Throwable ex) {
            FatalErrors.rethrow(ex);
            logger.error(
                    "{} has failed for {}, which changes nothing for the record",
                    what,
                    RecordCoordinates.of(this.record),
                    ex);
        }
    }
}
