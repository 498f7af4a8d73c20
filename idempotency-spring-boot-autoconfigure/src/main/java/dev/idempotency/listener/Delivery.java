package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.MessageId;
import dev.idempotency.NotAcknowledgedException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.ConsumerThreadState;
import dev.idempotency.failure.FatalErrors;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.Acknowledgment;

/**
 * The records that the container hands to a listener: one record, or a batch of them. It is bound to the thread while the listener runs, so
 * that the interceptor knows the Kafka records whatever arguments the listener takes.
 */
final class Delivery {

    private static final Logger logger = LoggerFactory.getLogger(Delivery.class);

    private static final ThreadLocal<@Nullable Delivery> CURRENT = new ThreadLocal<>();

    private final ProtectedMethods methods;
    private final List<? extends ConsumerRecord<?, ?>> records;
    private final boolean batch;
    private final @Nullable DeferredAcknowledgment acknowledgment;
    private final boolean shared;
    private final @Nullable Consumer<?, ?> consumer;
    private boolean soughtBack;
    private boolean beingHandled;
    private boolean skipped;
    private boolean handled;
    private @Nullable Throwable failure;
    private @Nullable TargetCall targetCall;
    private @Nullable MessageId replyTo;
    private IdempotencyContext.@Nullable Scope replying;
    private @Nullable CompletableFuture<?> replies;

    private Delivery(
            ProtectedMethods methods,
            List<? extends ConsumerRecord<?, ?>> records,
            boolean batch,
            @Nullable Acknowledgment acknowledgment,
            boolean shared,
            @Nullable Consumer<?, ?> consumer) {
        this.methods = methods;
        this.records = records;
        this.batch = batch;
        this.acknowledgment = (acknowledgment != null) ? new DeferredAcknowledgment(acknowledgment, batch) : null;
        this.shared = shared;
        this.consumer = consumer;
    }

    static Delivery ofRecord(
            ProtectedMethods methods,
            ConsumerRecord<?, ?> record,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        return new Delivery(methods, List.of(record), false, acknowledgment, false, consumer);
    }

    static Delivery ofBatch(
            ProtectedMethods methods,
            List<? extends ConsumerRecord<?, ?>> records,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        return new Delivery(methods, records, true, acknowledgment, false, consumer);
    }

    /**
     * One of several records that were claimed together, in a transaction that is open: its listener is called once, whatever
     * aspects around it do, since what a failed call has written is in that transaction.
     */
    Delivery ofClaimed(ConsumerRecord<?, ?> record) {
        return new Delivery(this.methods, List.of(record), false, null, true, this.consumer);
    }

    static @Nullable Delivery current() {
        return CURRENT.get();
    }

    /** Lets the listener run; what it acknowledged takes effect when it has returned, which is after its commit. */
    void during(Runnable listener) {
        if (!this.shared) {
            ConsumerThreadState.current().begin();
        }
        CURRENT.set(this);
        try {
            listener.run();
            awaitReplies();
        } catch (Throwable ex) {
            throw toException(ex, this.records);
        } finally {
            CURRENT.set(null);
            endReply();
            if (this.acknowledgment != null) {
                this.acknowledgment.end();
            }
        }
        if (!this.shared && !isNacked()) {
            settle();
        }
        if (this.acknowledgment != null) {
            this.acknowledgment.release();
        }
    }

    /**
     * Whatever was thrown as an exception that error handlers are given. A container would be stopped by an error, and for
     * good; and by a checked exception, which filters and converters may throw undeclared, be led past the record.
     */
    static RuntimeException toException(Throwable thrown, List<? extends ConsumerRecord<?, ?>> records) {
        if (thrown instanceof RuntimeException exception) {
            return exception;
        }
        if (thrown instanceof Error error && FatalErrors.contains(error)) {
            logger.error(
                    "A listener threw {} at {}. That stops its container, and nothing more is consumed until it is started"
                            + " again: nothing can be relied upon after such an error. Restart the application.",
                    error.toString(),
                    records.isEmpty() ? "no record" : RecordCoordinates.of(records.get(0)));
            throw error;
        }
        return new ListenerExecutionFailedException("Listener threw an error: " + thrown, thrown);
    }

    /** Its records are committed. */
    void settle() {
        ConsumerThreadState.current().commit(this.records);
    }

    /**
     * Begins to handle the delivery. When that has ended, another call, by an aspect that repeats a failed one, begins anew;
     * but not in a transaction that is shared with others.
     *
     * @return {@code false} if it is being handled already
     */
    boolean begin() {
        if (this.beingHandled) {
            return false;
        }
        endReply();
        if (this.acknowledgment != null) {
            this.acknowledgment.reset();
        }
        if (!this.shared) {
            this.skipped = false;
            this.handled = false;
            this.failure = null;
        }
        this.beingHandled = true;
        return true;
    }

    /** Ends handling it; without a failure, it has been handled. */
    void end(@Nullable Throwable failure) {
        this.beingHandled = false;
        this.targetCall = null;
        this.failure = failure;
        this.handled = failure == null;
        if (this.handled && this.replyTo != null) {
            this.replying = IdempotencyContext.openForReply(this.replyTo);
        }
    }

    /** The reply to this message may be sent more than once, and is sent when the listener has returned. */
    void repliesTo(MessageId id) {
        this.replyTo = id;
    }

    /** A reply is being sent, which the broker must have before the record is done. */
    void sending(CompletableFuture<?> reply) {
        this.replies = (this.replies == null) ? reply : CompletableFuture.allOf(this.replies, reply);
    }

    private void awaitReplies() {
        try {
            if (this.replies != null) {
                this.replies.join();
            }
        } catch (CompletionException ex) {
            FatalErrors.rethrow(ex.getCause());
            Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
            throw new KafkaException(
                    ("The reply to %s was not sent (%s). It is kept, and is sent when the request is redelivered. See that"
                                    + " the reply topic exists and takes replies of this size.")
                            .formatted(
                                    RecordCoordinates.of(this.records.get(0)),
                                    cause.getClass().getSimpleName()),
                    ex.getCause());
        }
    }

    private void endReply() {
        this.replyTo = null;
        if (this.replying != null) {
            this.replying.close();
            this.replying = null;
        }
    }

    /** Whether the last call that reached the claim has been handled. */
    boolean isHandled() {
        return this.handled;
    }

    /** Throws what the claim or the listener has thrown, even if an aspect around the claim has caught it. */
    void requireNoFailure() throws Throwable {
        if (this.failure != null) {
            throw this.failure;
        }
    }

    /** The same where it must have been handled. */
    void requireHandled() throws Throwable {
        requireNoFailure();
        if (!this.handled) {
            throw new IllegalStateException("The listener was not called: a KafkaListenerErrorHandler hides why");
        }
    }

    /** Calls the listener within a transaction that is shared with other records, unless that was done before. */
    @Nullable
    Object callOnce(ListenerDefinition definition, MethodInvocation aspects) throws Throwable {
        requireNoFailure();
        return this.handled ? null : call(definition, aspects);
    }

    /** Calls the listener for a claim: its method must be called once, whatever aspects there are. */
    @Nullable
    Object call(ListenerDefinition definition, MethodInvocation aspects) throws Throwable {
        this.skipped = false;
        this.soughtBack = false;
        this.targetCall = new TargetCall(definition);
        Object result = this.targetCall.through(aspects);
        if (!isNacked()) {
            requireDone(definition);
        }
        return result;
    }

    /** Requires a listener that has returned to have said that its messages are done, where that is up to it. */
    private void requireDone(ListenerDefinition definition) {
        if (this.soughtBack || (definition.method().takesConsumer() && isSoughtBack())) {
            throw new NotAcknowledgedException(
                    "%s of consumer '%s' sought back to its own message and returned. Nothing was committed. Throw an exception, or call nack(), to have it redelivered."
                            .formatted(definition.method(), definition.consumer()));
        }
        if (this.acknowledgment != null && !this.acknowledgment.isAcknowledged()) {
            throw new NotAcknowledgedException(
                    "%s of consumer '%s' returned without acknowledging its message. Nothing was committed. Call acknowledge() before it returns, or nack() to have it redelivered."
                            .formatted(definition.method(), definition.consumer()));
        }
    }

    /** The application seeks, from within the listener. */
    void seek(String topic, int partition, long offset) {
        this.soughtBack |= this.records.stream()
                .anyMatch(record ->
                        record.topic().equals(topic) && record.partition() == partition && record.offset() >= offset);
    }

    private boolean isSoughtBack() {
        Consumer<?, ?> asked = this.consumer;
        return asked != null
                && this.records.stream().anyMatch(record -> {
                    try {
                        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                        return asked.position(partition, Duration.ZERO) <= record.offset();
                    } catch (RuntimeException ex) {
                        // It is not known yet, or not assigned any more.
                        return false;
                    }
                });
    }

    /** The call that is being made, or was made last while the delivery is handled. */
    @Nullable
    TargetCall targetCall() {
        return this.targetCall;
    }

    ProtectedMethods methods() {
        return this.methods;
    }

    List<? extends ConsumerRecord<?, ?>> records() {
        return this.records;
    }

    /** Whether its transaction is shared with other records. */
    boolean isShared() {
        return this.shared;
    }

    boolean isBatch() {
        return this.batch;
    }

    @Nullable
    DeferredAcknowledgment acknowledgment() {
        return this.acknowledgment;
    }

    /** The listener is not called, so it is acknowledged here. */
    void skip() {
        this.skipped = true;
        if (this.acknowledgment != null) {
            this.acknowledgment.reset();
            this.acknowledgment.acknowledge();
        }
    }

    /** The listener is not called, but its result of the first time is there to be sent again. */
    void answer() {
        this.skipped = false;
    }

    /** Whether the last attempt did not call the listener. */
    boolean isSkipped() {
        return this.skipped;
    }

    boolean isNacked() {
        return this.acknowledgment != null && this.acknowledgment.isNacked();
    }

    /** Tells the acknowledgment which of the delivered records the listener's indexes mean. */
    void narrow(int[] positions) {
        if (this.acknowledgment != null) {
            this.acknowledgment.narrow(positions);
        }
    }
}
