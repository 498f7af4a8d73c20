package dev.idempotency.listener;

import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.kafka.SpringKafkaInternals;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.adapter.DelegatingInvocableHandler;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.util.ReflectionUtils;

/**
 * Calls a listener's method, and looks at what became of the call: no reply is sent for a duplicate, whatever a method that
 * returns a primitive must return; and where an aspect around the claim returns in place of a failure, or instead of
 * calling, the message has not been processed all the same.
 */
final class RepliesToNew extends HandlerAdapter {

    private final boolean claims;

    private RepliesToNew(InvocableHandlerMethod method, boolean claims) {
        super(method);
        this.claims = claims;
    }

    private RepliesToNew(DelegatingInvocableHandler handlers, boolean claims) {
        super(handlers);
        this.claims = claims;
    }

    /**
     * Stands in the place of the adapter's own, where it can be found.
     *
     * @param claims whether a call of any method passes the claim
     */
    static void install(@Nullable Object listener, boolean claims) {
        if (!(listener instanceof MessagingMessageListenerAdapter<?, ?> adapter)) {
            return;
        }
        HandlerAdapter handler = SpringKafkaInternals.handlerOf(adapter);
        if (handler == null || handler.getClass() != HandlerAdapter.class) {
            return;
        }
        InvocableHandlerMethod method = SpringKafkaInternals.onlyMethodOf(handler);
        DelegatingInvocableHandler methods = SpringKafkaInternals.methodChoiceOf(handler);
        if (method != null) {
            adapter.setHandlerMethod(new RepliesToNew(method, claims));
        } else if (methods != null) {
            adapter.setHandlerMethod(new RepliesToNew(methods, claims));
        }
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArgs) throws Exception {
        Object result = super.invoke(message, providedArgs);
        Delivery delivery = Delivery.current();
        if (delivery == null) {
            return result;
        }
        try {
            delivery.requireNoFailure();
        } catch (Throwable failure) {
            ReflectionUtils.rethrowException(failure);
        }
        if (this.claims && !delivery.isHandled()) {
            throw new UnprotectedListenerException(
                    ("A method of %s was not called: an aspect around @IdempotentListener returned in its place, and the"
                                    + " message would pass for processed. Let the aspect throw an exception, or decide"
                                    + " within the method.")
                            .formatted(getBean().getClass().getName()));
        }
        return delivery.isSkipped() ? null : result;
    }
}
