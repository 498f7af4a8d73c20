package dev.idempotency.internal.listener;

import dev.idempotency.IdempotencyContextHolder;
import dev.idempotency.MessageId;
import dev.idempotency.NotAcknowledgedException;
import dev.idempotency.internal.database.Causes;
import dev.idempotency.internal.definition.ListenerDefinition;
import dev.idempotency.internal.definition.ProtectedMethods;
import dev.idempotency.internal.failure.ConsumerThreadState;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.KafkaException;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.Acknowledgment;

/**
 * The records that the container hands to a listener: one record, or a batch of them. It is bound to the thread while the listener runs, so
 * that the interceptor knows the Kafka records whatever arguments the listener takes.
 */
final class Delivery {

    private static final ThreadLocal<@Nullable Delivery> CURRENT = new ThreadLocal<>();

    final ProtectedMethods methods;
    final List<? extends ConsumerRecord<?, ?>> records;
    final boolean batch;
    final @Nullable DeferredAcknowledgment acknowledgment;
    private final @Nullable Consumer<?, ?> consumer;
    private boolean shared;
    private boolean soughtBack;
    private boolean beingHandled;
    private boolean skipped;
    private boolean handled;
    private boolean committed;
    private @Nullable Throwable failure;
    private @Nullable TargetCall targetCall;
    private @Nullable MessageId replyTo;
    private IdempotencyContextHolder.@Nullable Scope replying;
    private @Nullable CompletableFuture<?> replies;

    Delivery(
            ProtectedMethods methods,
            List<? extends ConsumerRecord<?, ?>> records,
            boolean batch,
            @Nullable Acknowledgment acknowledgment,
            @Nullable Consumer<?, ?> consumer) {
        this.methods = methods;
        this.records = records;
        this.batch = batch;
        this.acknowledgment = (acknowledgment != null) ? new DeferredAcknowledgment(acknowledgment, batch) : null;
        this.consumer = consumer;
    }

    /** One of several records that share an open transaction: its listener is called once, whatever aspects do. */
    Delivery ofClaimed(ConsumerRecord<?, ?> record) {
        Delivery claimed = new Delivery(this.methods, List.of(record), false, null, this.consumer);
        claimed.shared = true;
        return claimed;
    }

    static @Nullable Delivery current() {
        return CURRENT.get();
    }

    /** Lets the listener run. Its acknowledgment takes effect when it has returned, which is after its commit. */
    void during(Runnable listener) {
        CURRENT.set(this);
        try {
            listener.run();
            requireProcessed();
            awaitReplies();
        } catch (Throwable ex) {
            throw toException(ex);
        } finally {
            CURRENT.set(null);
            endReply();
            if (this.acknowledgment != null) {
                this.acknowledgment.end();
            }
        }
        if (!this.shared && !isNacked()) {
            commit();
        }
        if (this.acknowledgment != null) {
            this.acknowledgment.release();
        }
    }

    /** The records are done, whatever is thrown from now on. */
    void commit() {
        if (!this.committed) {
            this.committed = true;
            ConsumerThreadState.current().commit(this.records);
        }
    }

    /** Throws a failure that an aspect around the claim has caught; a {@code KafkaListenerErrorHandler} may, except in a poll. */
    private void requireProcessed() throws Throwable {
        boolean poll = this.methods.hasTransactionPerPoll();
        if (this.failure != null && (poll || !this.methods.hasErrorHandler())) {
            throw this.failure;
        }
        if (poll && !this.handled) {
            throw new IllegalStateException("The listener was not called: a KafkaListenerErrorHandler hides why");
        }
    }

    /**
     * For error handlers: an error would stop the container, which skips records after undeclared checked exceptions.
     */
    static RuntimeException toException(Throwable thrown) {
        Causes.rethrowIfFatal(thrown);
        return (thrown instanceof RuntimeException exception)
                ? exception
                : new ListenerExecutionFailedException("Listener threw an error: " + thrown, thrown);
    }

    /** Begins to handle it, again if an aspect repeats a call that has failed; {@code false} if it is being handled. */
    boolean begin() {
        if (this.beingHandled) {
            return false;
        }
        endReply();
        if (this.acknowledgment != null) {
            this.acknowledgment.begin(this.records.size());
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
            this.replying = IdempotencyContextHolder.openForReply(this.replyTo);
        }
    }

    /** The reply to this message is kept, may be sent more than once, and is sent when the listener has returned. */
    void repliesTo(MessageId id) {
        this.replyTo = id;
        this.skipped = false;
    }

    /** Has the record wait for a kept reply that is being sent. */
    void sending(CompletableFuture<?> reply) {
        if (this.replyTo != null) {
            this.replies = (this.replies == null) ? reply : CompletableFuture.allOf(this.replies, reply);
        }
    }

    private void awaitReplies() {
        if (this.replies == null) {
            return;
        }
        try {
            this.replies.join();
        } catch (CompletionException ex) {
            throw new KafkaException(
                    ("The reply to %s was not sent. It is kept, and is sent when the request is redelivered. See that the"
                                    + " reply topic exists and takes replies of this size.")
                            .formatted(KafkaCoordinates.of(this.records.get(0))),
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

    /** Calls the listener within a transaction that is shared with other records, unless that was done before. */
    @Nullable
    Object callOnce(ListenerDefinition definition, MethodInvocation aspects) throws Throwable {
        if (this.failure != null) {
            throw this.failure;
        }
        return this.handled ? null : call(definition, aspects);
    }

    /** Calls the listener for a claim: its method must be called once, whatever aspects there are. */
    @Nullable
    Object call(ListenerDefinition definition, MethodInvocation aspects) throws Throwable {
        this.skipped = false;
        this.soughtBack = false;
        this.targetCall = new TargetCall(definition);
        Object result = this.targetCall.through(aspects);
        boolean back = this.soughtBack || isSoughtBack(aspects.getArguments());
        if (!isNacked() && (back || (this.acknowledgment != null && !this.acknowledgment.isAcknowledged()))) {
            String fault = back
                    ? "sought back to its own message and returned. Nothing was committed. Throw an exception, or call nack(), to have it redelivered."
                    : "returned without acknowledging its message. Nothing was committed. Call acknowledge() before it returns, or nack() to have it redelivered.";
            throw new NotAcknowledgedException(definition + " " + fault);
        }
        return result;
    }

    /** Whether the consumer was given to the listener, and is positioned at or before one of the records. */
    private boolean isSoughtBack(@Nullable Object[] arguments) {
        return this.consumer != null
                && Arrays.asList(arguments).contains(this.consumer)
                && this.records.stream()
                        .anyMatch(record ->
                                this.consumer.position(ConsumerThreadState.partitionOf(record)) <= record.offset());
    }

    /** Notes a call of a {@code ConsumerSeekCallback}: it leads back unless it is surely to the end, or beyond the records. */
    void seek(String method, Object[] arguments) {
        this.soughtBack |= !method.equals("seekToEnd")
                && this.records.stream().anyMatch(record -> isSeekBack(method, arguments, record));
    }

    private static boolean isSeekBack(String method, Object[] arguments, ConsumerRecord<?, ?> record) {
        boolean own = (arguments[0] instanceof Collection<?> partitions)
                ? partitions.contains(ConsumerThreadState.partitionOf(record))
                : record.topic().equals(arguments[0]) && arguments[1].equals(record.partition());
        return own && !(method.equals("seek") && arguments[2] instanceof Long offset && offset > record.offset());
    }

    /** The call that is being made, or was made last while the delivery is handled. */
    @Nullable
    TargetCall targetCall() {
        return this.targetCall;
    }

    boolean isShared() {
        return this.shared;
    }

    /** The listener is not called, so it is acknowledged here. */
    void skip() {
        this.skipped = true;
        if (this.acknowledgment != null) {
            this.acknowledgment.begin(0);
            this.acknowledgment.acknowledge();
        }
    }

    /** Whether the listener was not called, and there is no kept reply to send again. */
    boolean isSkipped() {
        return this.skipped;
    }

    boolean isNacked() {
        return this.acknowledgment != null && this.acknowledgment.isNacked();
    }
}
