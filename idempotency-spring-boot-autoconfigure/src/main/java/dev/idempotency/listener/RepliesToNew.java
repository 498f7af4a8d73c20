package dev.idempotency.listener;

import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.adapter.DelegatingInvocableHandler;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.util.ReflectionUtils;

/** Calls a listener's method, and sends no reply for a duplicate, whatever a method that returns a primitive must return. */
final class RepliesToNew extends HandlerAdapter {

    private RepliesToNew(InvocableHandlerMethod method) {
        super(method);
    }

    private RepliesToNew(DelegatingInvocableHandler handlers) {
        super(handlers);
    }

    /** Stands in the place of the adapter's own, where it can be found. */
    static void install(@Nullable Object listener) {
        if (!(listener instanceof MessagingMessageListenerAdapter<?, ?> adapter)
                || !(field(MessagingMessageListenerAdapter.class, "handlerMethod", adapter)
                        instanceof HandlerAdapter handler)
                || handler.getClass() != HandlerAdapter.class) {
            return;
        }
        if (field(HandlerAdapter.class, "invokerHandlerMethod", handler) instanceof InvocableHandlerMethod method) {
            adapter.setHandlerMethod(new RepliesToNew(method));
        } else if (field(HandlerAdapter.class, "delegatingHandler", handler)
                instanceof DelegatingInvocableHandler handlers) {
            adapter.setHandlerMethod(new RepliesToNew(handlers));
        }
    }

    private static @Nullable Object field(Class<?> type, String name, Object owner) {
        Field field = ReflectionUtils.findField(type, name);
        if (field == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, owner);
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArgs) throws Exception {
        Object result = super.invoke(message, providedArgs);
        Delivery delivery = Delivery.current();
        return (delivery != null && delivery.isSkipped()) ? null : result;
    }
}
