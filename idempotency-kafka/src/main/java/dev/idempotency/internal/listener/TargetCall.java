package dev.idempotency.internal.listener;

import dev.idempotency.UnprotectedCallException;
import dev.idempotency.internal.definition.ListenerDefinition;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one call of a listener's method that belongs to a claim, seen behind all aspects: what a first call has written is in
 * the transaction, so there is no second one; and without any the message would pass for processed.
 */
final class TargetCall {

    private static final Logger logger = LoggerFactory.getLogger(TargetCall.class);

    private final ListenerDefinition definition;
    private boolean made;
    private @Nullable Throwable failure;
    private @Nullable UnprotectedCallException refusal;

    TargetCall(ListenerDefinition definition) {
        this.definition = definition;
    }

    /** Whether it is on its way to this method, and has not arrived. */
    boolean leadsTo(ListenerDefinition method) {
        return this.definition == method && !this.made;
    }

    /** Calls the aspects; a refusal counts, whatever they make of it. */
    @Nullable
    Object through(MethodInvocation aspects) throws Throwable {
        Object result;
        try {
            result = aspects.proceed();
        } catch (Throwable ex) {
            throw (this.refusal != null) ? this.refusal : ex;
        } finally {
            if (Thread.interrupted()) {
                logger.warn(
                        "{} left its thread interrupted, which is ended: the consumer could not go on",
                        this.definition);
            }
        }
        if (this.refusal != null) {
            throw this.refusal;
        }
        if (result != null && this.definition.method().isCompletedLater(result)) {
            throw new UnprotectedCallException(
                    ("%s returned a %s, which is completed later, when its transaction is over. Nothing was committed. Return"
                                    + " void, and wait for the result in the method (join() or block()).")
                            .formatted(this.definition, result.getClass().getSimpleName()));
        }
        if (this.definition.method().targetSeen() && !this.made) {
            throw new UnprotectedCallException(
                    ("%s was not called: an aspect between @IdempotentListener and the method returned in its"
                                    + " place. Nothing was committed. Let the aspect throw, or decide within the method.")
                            .formatted(this.definition));
        }
        return result;
    }

    @Nullable
    Object make(MethodInvocation invocation) throws Throwable {
        if (this.made) {
            this.refusal = new UnprotectedCallException(
                    ("%s was called a second time in one transaction, by an aspect between @IdempotentListener and the"
                                    + " method, such as a retry. Nothing was committed. Leave retries to idempotency.errors.* or @RetryableTopic, or let the"
                                    + " aspect repeat a method that the listener calls.")
                            .formatted(this.definition),
                    this.failure);
            throw this.refusal;
        }
        this.made = true;
        try {
            return invocation.proceed();
        } catch (Throwable ex) {
            this.failure = ex;
            throw ex;
        }
    }
}
