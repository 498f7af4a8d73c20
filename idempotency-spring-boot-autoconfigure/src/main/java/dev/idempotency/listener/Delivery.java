package dev.idempotency.listener;

import dev.idempotency.IdempotencyContext;
import dev.idempotency.MessageId;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.DeliveryContext;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.Acknowledgment;

/**
 * What the container is handing to a listener on this thread: one record, or a batch of them.
 *
 * <p>It is bound to the thread while the listener runs, so that the interceptor knows the Kafka records whatever
 * arguments the listener takes.
 */
final class Delivery {

    /** A transaction that is open for several deliveries, one after the other. */
    interface SharedTransaction {

        /** Claims the message of a delivery and, if it may enter, calls its listener. */
        @Nullable
        Object claimAndCall(Delivery delivery, ListenerDefinition definition, MethodInvocation aspects)
                throws Throwable;
    }

    private static final ThreadLocal<@Nullable Delivery> CURRENT = new ThreadLocal<>();

    private final ProtectedMethods methods;
    private final List<? extends ConsumerRecord<?, ?>> records;
    private final boolean batch;
    private final @Nullable DeferredAcknowledgment acknowledgment;
    private final boolean shared;
    private final @Nullable SharedTransaction transaction;
    private boolean beingHandled;
    private boolean skipped;
    private boolean handled;
    private @Nullable Throwable failure;
    private @Nullable TargetCall targetCall;
    private @Nullable MessageId replyTo;
    private IdempotencyContext.@Nullable Scope replying;

    private Delivery(
            ProtectedMethods methods,
            List<? extends ConsumerRecord<?, ?>> records,
            boolean batch,
            @Nullable DeferredAcknowledgment acknowledgment,
            boolean shared,
            @Nullable SharedTransaction transaction) {
        this.methods = methods;
        this.records = records;
        this.batch = batch;
        this.acknowledgment = acknowledgment;
        this.shared = shared;
        this.transaction = transaction;
    }

    static Delivery ofRecord(
            ProtectedMethods methods, ConsumerRecord<?, ?> record, @Nullable Acknowledgment acknowledgment) {
        return new Delivery(methods, List.of(record), false, deferred(acknowledgment, false, false), false, null);
    }

    static Delivery ofBatch(
            ProtectedMethods methods,
            List<? extends ConsumerRecord<?, ?>> records,
            @Nullable Acknowledgment acknowledgment,
            boolean retriedInPlace) {
        return new Delivery(methods, records, true, deferred(acknowledgment, true, retriedInPlace), false, null);
    }

    /**
     * One record whose message has been claimed together with others, in a transaction that is open: its listener is
     * called once, whatever aspects around it do, since what a failed call has written is in that transaction.
     */
    static Delivery ofClaimed(ProtectedMethods methods, ConsumerRecord<?, ?> record) {
        return new Delivery(methods, List.of(record), false, null, true, null);
    }

    /** One record whose message is to be claimed in a transaction that is open for others, too; it is called once, likewise. */
    static Delivery within(SharedTransaction transaction, ProtectedMethods methods, ConsumerRecord<?, ?> record) {
        return new Delivery(methods, List.of(record), false, null, true, transaction);
    }

    private static @Nullable DeferredAcknowledgment deferred(
            @Nullable Acknowledgment acknowledgment, boolean batch, boolean retriedInPlace) {
        return (acknowledgment != null) ? new DeferredAcknowledgment(acknowledgment, batch, retriedInPlace) : null;
    }

    static @Nullable Delivery current() {
        return CURRENT.get();
    }

    /** Lets the listener run; what it acknowledged takes effect when it has returned, which is after its commit. */
    void during(Runnable listener) {
        if (!this.shared) {
            DeliveryContext.begin();
        }
        CURRENT.set(this);
        try {
            listener.run();
        } catch (Throwable ex) {
            throw FailureConverter.toException(ex, this.records);
        } finally {
            CURRENT.set(null);
            endReply();
        }
        if (!this.shared && !isNacked()) {
            settle();
        }
        if (this.acknowledgment != null) {
            this.acknowledgment.release();
        }
    }

    /** Its records are done. */
    void settle() {
        DeliveryContext.settle(this.records);
    }

    /**
     * Begins to handle the delivery. When that has ended, another call, by an aspect that repeats a failed one, begins anew;
     * but not in a transaction that is shared with others.
     *
     * @return {@code false} if it is being handled already
     */
    boolean begin() {
        boolean idle = !this.beingHandled;
        if (idle) {
            endReply();
        }
        if (idle && this.acknowledgment != null) {
            this.acknowledgment.reset();
        }
        if (idle && !this.shared) {
            this.skipped = false;
            this.handled = false;
            this.failure = null;
        }
        this.beingHandled = true;
        return idle;
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

    private void endReply() {
        this.replyTo = null;
        if (this.replying != null) {
            this.replying.close();
            this.replying = null;
        }
    }

    /** Why it has not been handled, even if an aspect around the claim has caught that; {@code null} without a failure. */
    @Nullable
    Throwable failure() {
        return this.failure;
    }

    /** Whether the last call that reached the claim has been handled. */
    boolean isHandled() {
        return this.handled;
    }

    /** Calls the listener within a transaction that is shared with other records, unless that was done before. */
    @Nullable
    Object callOnce(ListenerDefinition definition, MethodInvocation aspects) throws Throwable {
        if (this.failure != null) {
            throw this.failure;
        }
        if (this.handled) {
            return null;
        }
        return (this.transaction != null)
                ? this.transaction.claimAndCall(this, definition, aspects)
                : call(definition, aspects);
    }

    /**
     * Ends a delivery that must have been handled.
     *
     * @throws Throwable what the listener has thrown, even if somebody around it has caught it
     */
    void requireHandled() throws Throwable {
        if (this.failure != null) {
            throw this.failure;
        }
        if (!this.handled) {
            throw new IllegalStateException("The listener was not called: a KafkaListenerErrorHandler hides why");
        }
    }

    /** Calls the listener for a claim: its method must be called once, whatever aspects there are. */
    @Nullable
    Object call(ListenerDefinition definition, MethodInvocation aspects) throws Throwable {
        this.skipped = false;
        this.targetCall = new TargetCall(definition);
        return this.targetCall.through(aspects);
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

    /** Whether it has no transaction of its own. */
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

    /** The listener is not called, so its result is none; and what it will not acknowledge nobody else would. */
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
