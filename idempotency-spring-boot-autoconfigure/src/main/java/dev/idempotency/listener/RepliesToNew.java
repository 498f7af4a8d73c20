package dev.idempotency.listener;

import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.kafka.SpringKafkaInternals;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.adapter.DelegatingInvocableHandler;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.InvocationResult;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.messaging.Message;
import org.springframework.util.ReflectionUtils;

/**
 * Calls a listener's method, and looks at what became of the call: no reply is sent for a duplicate, whatever a method that
 * returns a primitive must return; and where an aspect around the claim returns in place of a failure, or instead of
 * calling, the message has not been processed all the same.
 */
final class RepliesToNew extends HandlerAdapter {

    private final HandlerAdapter delegate;
    private final boolean claims;

    private RepliesToNew(HandlerAdapter delegate, boolean claims) {
        super(new DelegatingInvocableHandler(List.of(), null, delegate.getBean(), null, null, null, null));
        this.delegate = delegate;
        this.claims = claims;
    }

    /**
     * Stands in the place of the adapter's own, where it can be found.
     *
     * @param claims whether a call of any method passes the claim
     */
    static void install(@Nullable Object listener, boolean claims) {
        HandlerAdapter handler = (listener instanceof MessagingMessageListenerAdapter<?, ?> adapter)
                ? SpringKafkaInternals.handlerOf(adapter)
                : null;
        if (handler != null && handler.getClass() == HandlerAdapter.class) {
            ((MessagingMessageListenerAdapter<?, ?>) listener).setHandlerMethod(new RepliesToNew(handler, claims));
        }
    }

    @Override
    public boolean isAsyncReplies() {
        return this.delegate.isAsyncReplies();
    }

    @Override
    public String getMethodAsString(Object payload) {
        return this.delegate.getMethodAsString(payload);
    }

    @Override
    public @Nullable InvocationResult getInvocationResultFor(Object result, @Nullable Object inboundPayload) {
        return this.delegate.getInvocationResultFor(result, inboundPayload);
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArgs) throws Exception {
        Object result = this.delegate.invoke(message, providedArgs);
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
