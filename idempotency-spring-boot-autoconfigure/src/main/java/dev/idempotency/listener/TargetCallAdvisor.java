package dev.idempotency.listener;

import dev.idempotency.IdempotentListener;
import dev.idempotency.UnprotectedListenerException;
import dev.idempotency.definition.IdempotentListenerAnnotations;
import dev.idempotency.definition.ProxyPath;
import java.io.Serial;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;

/**
 * Sees the call of a listener's method behind all aspects. It is put at the end of the innermost proxy's advisors when all
 * of them are known: by its order alone it would stand before the aspects that have none.
 */
final class TargetCallAdvisor extends StaticMethodMatcherPointcutAdvisor {

    @Serial
    private static final long serialVersionUID = 1L;

    private TargetCallAdvisor() {
        super((MethodInterceptor) invocation -> {
            Delivery delivery = Delivery.current();
            TargetCall call = (delivery != null) ? delivery.targetCall() : null;
            if (call == null) {
                throw new UnprotectedListenerException(
                        ("%s is an @%s, but an aspect has called it on another thread than its container's, outside its"
                                        + " transaction. Remove the aspect, or let it surround a method that the"
                                        + " listener calls.")
                                .formatted(invocation.getMethod(), IdempotentListener.class.getSimpleName()));
            }
            return call.make(invocation);
        });
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return IdempotentListenerAnnotations.find(method, targetClass) != null;
    }

    /**
     * Puts one behind the aspects of a bean, unless it is there.
     *
     * @return whether it is there; not if the bean is no proxy, or a frozen one
     */
    static boolean installOn(Object bean, Method listener) {
        Advised innermost = ProxyPath.innermostProxyOf(bean);
        if (innermost == null || IdempotentListenerAnnotations.find(listener, innermost.getTargetClass()) == null) {
            return false;
        }
        synchronized (TargetCallAdvisor.class) {
            if (Arrays.stream(innermost.getAdvisors()).anyMatch(TargetCallAdvisor.class::isInstance)) {
                return true;
            }
            if (innermost.isFrozen()) {
                return false;
            }
            innermost.addAdvisor(new TargetCallAdvisor());
            return true;
        }
    }
}
