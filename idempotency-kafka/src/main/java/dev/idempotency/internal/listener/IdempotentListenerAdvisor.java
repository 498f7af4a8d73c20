package dev.idempotency.internal.listener;

import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedCallException;
import dev.idempotency.internal.definition.IdempotentListenerAnnotations;
import dev.idempotency.internal.definition.ListenerDefinition;
import dev.idempotency.internal.definition.ProxyPath;
import java.io.Serial;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.Ordered;

/** Puts the claim around listener methods, outside of everything else, {@code @Transactional} included. */
public final class IdempotentListenerAdvisor extends StaticMethodMatcherPointcutAdvisor implements ProxyPath.Claiming {

    @Serial
    private static final long serialVersionUID = 1L;

    public IdempotentListenerAdvisor() {
        super((MethodInterceptor) IdempotentListenerAdvisor::claim);
        setOrder(Ordered.HIGHEST_PRECEDENCE);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return !isFinal(targetClass) && IdempotentListenerAnnotations.find(method, targetClass) != null;
    }

    /** Left to the start-up checks, which report it with all other findings. */
    private static boolean isFinal(Class<?> targetClass) {
        return Modifier.isFinal(targetClass.getModifiers()) && !Proxy.isProxyClass(targetClass);
    }

    private static @Nullable Object claim(MethodInvocation invocation) throws Throwable {
        Delivery delivery = Delivery.current();
        if (delivery == null) {
            throw unprotected(invocation, "it was not called by its Kafka listener container");
        }
        Object target = invocation.getThis();
        ListenerDefinition definition =
                delivery.methods.definitionOf(invocation.getMethod(), (target != null) ? target.getClass() : null);
        if (definition == null) {
            throw unprotected(invocation, "it was called for a message of another listener");
        }
        if (!delivery.begin()) {
            TargetCall call = delivery.targetCall();
            if (call == null || !call.leadsTo(definition)) {
                throw unprotected(invocation, "it was called while a message of its container is being handled");
            }
            // A proxy around the proxy, each with a claim: the call is on its way.
            return invocation.proceed();
        }
        Object result;
        try {
            result = delivery.isShared()
                    ? delivery.callOnce(definition, invocation)
                    : new MethodCall(invocation, delivery, definition).proceed();
        } catch (Throwable ex) {
            delivery.end(ex);
            throw ex;
        }
        delivery.end(null);
        return result;
    }

    private static UnprotectedCallException unprotected(MethodInvocation invocation, String why) {
        return new UnprotectedCallException(
                ("%s is an @%s, but %s, so there is no message to claim. Move the work to a method without the"
                                + " annotation and call that one; register listeners with @KafkaListener.")
                        .formatted(invocation.getMethod(), IdempotentListener.class.getSimpleName(), why));
    }

    /** Puts an advisor behind the aspects of a listener's bean; {@code false} if that is no proxy. */
    static boolean installOn(Object bean, Method listener) {
        Advised innermost = ProxyPath.innermostProxyOf(bean);
        if (innermost == null || IdempotentListenerAnnotations.find(listener, innermost.getTargetClass()) == null) {
            return false;
        }
        synchronized (TargetCallAdvisor.class) {
            if (Arrays.stream(innermost.getAdvisors()).anyMatch(TargetCallAdvisor.class::isInstance)) {
                return true;
            }
            innermost.addAdvisor(new TargetCallAdvisor());
            return true;
        }
    }

    /**
     * Sees the call of a listener's method behind all aspects. It is put at the end of the innermost proxy's advisors when
     * all of them are known: sorted by its order, it would precede aspects without one.
     */
    private static final class TargetCallAdvisor extends StaticMethodMatcherPointcutAdvisor {

        @Serial
        private static final long serialVersionUID = 1L;

        private TargetCallAdvisor() {
            super((MethodInterceptor) invocation -> {
                Delivery delivery = Delivery.current();
                TargetCall call = (delivery != null) ? delivery.targetCall() : null;
                if (call == null) {
                    throw unprotected(invocation, "an aspect has called it on another thread than its container's");
                }
                return call.make(invocation);
            });
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return IdempotentListenerAnnotations.find(method, targetClass) != null;
        }
    }
}
