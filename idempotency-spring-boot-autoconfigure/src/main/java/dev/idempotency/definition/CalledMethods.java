package dev.idempotency.definition;

import dev.idempotency.listener.BatchDeliveryListener;
import dev.idempotency.listener.IdempotentListenerAdvisor;
import dev.idempotency.listener.PollDeliveryListener;
import dev.idempotency.listener.RecordDeliveryListener;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.DelegatingInvocableHandler;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.messaging.handler.HandlerMethod;
import org.springframework.util.ReflectionUtils;

/**
 * The methods of a bean that a container calls, and whether it was prepared to have their messages claimed.
 *
 * @param bean the bean
 * @param methods its methods: one, or all the handlers of a class
 * @param prepared whether the container remembers what it delivers
 */
public record CalledMethods(Object bean, List<Method> methods, boolean prepared) {

    /** What the container calls, or {@code null} if that is not a method of a bean. */
    public static @Nullable CalledMethods of(MessageListenerContainer container) {
        Object listener = unwrap(container.getContainerProperties().getMessageListener());
        boolean prepared = false;
        while (listener instanceof DelegatingMessageListener<?> delegating) {
            prepared |= listener instanceof RecordDeliveryListener
                    || listener instanceof BatchDeliveryListener
                    || listener instanceof PollDeliveryListener;
            listener = unwrap(delegating.getDelegate());
        }
        if (!(listener instanceof MessagingMessageListenerAdapter<?, ?> adapter)) {
            return null;
        }
        Object handler = field(MessagingMessageListenerAdapter.class, "handlerMethod", adapter);
        return (handler instanceof HandlerAdapter handlers)
                ? new CalledMethods(handlers.getBean(), methodsOf(handlers), prepared)
                : null;
    }

    /** Whether a call of any of the methods passes the proxy that claims; where one does not, start-up checks say so. */
    public boolean areClaimed() {
        Class<?> type = AopUtils.getTargetClass(this.bean);
        return this.bean instanceof Advised proxy
                && Arrays.stream(proxy.getAdvisors()).anyMatch(IdempotentListenerAdvisor.class::isInstance)
                && !this.methods.isEmpty()
                && this.methods.stream()
                        .allMatch(method ->
                                isProxied(method) && IdempotentListenerAnnotations.find(method, type) != null);
    }

    private boolean isProxied(Method method) {
        return Proxy.isProxyClass(this.bean.getClass())
                || Arrays.stream(this.bean.getClass().getDeclaredMethods())
                        .anyMatch(overriding -> overriding.getName().equals(method.getName())
                                && Arrays.equals(overriding.getParameterTypes(), method.getParameterTypes()));
    }

    private static List<Method> methodsOf(HandlerAdapter handler) {
        if (field(HandlerAdapter.class, "invokerHandlerMethod", handler) instanceof HandlerMethod single) {
            return List.of(single.getMethod());
        }
        Object several = field(HandlerAdapter.class, "delegatingHandler", handler);
        List<?> handlers =
                (several != null) ? (List<?>) field(DelegatingInvocableHandler.class, "handlers", several) : List.of();
        return (handlers == null)
                ? List.of()
                : handlers.stream()
                        .map(HandlerMethod.class::cast)
                        .map(HandlerMethod::getMethod)
                        .toList();
    }

    /** Without the advice of its container. */
    private static @Nullable Object unwrap(@Nullable Object listener) {
        Object target = (listener != null) ? AopProxyUtils.getSingletonTarget(listener) : null;
        return (target != null) ? target : listener;
    }

    /** {@code null} where this version of Spring Kafka has no such field: a guard must not break what it guards. */
    private static @Nullable Object field(Class<?> type, String name, Object object) {
        Field field = ReflectionUtils.findField(type, name);
        if (field == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, object);
    }
}
