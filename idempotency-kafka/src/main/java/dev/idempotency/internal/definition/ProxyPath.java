package dev.idempotency.internal.definition;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.IntroductionAdvisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.MethodMatchers;

/**
 * The advice that a container's call passes in the proxies of a listener's bean: whether it meets the claim, and what
 * is around and within that. {@code MethodCheck} finds methods that no proxy can override.
 */
public record ProxyPath(boolean claims, List<Advice> aroundClaim, List<Advice> withinClaim) {

    /** Marks the advisor that claims. */
    public interface Claiming {}

    /** The way of a call to a method of the user's class, or of an interface by which the bean is called. */
    public static ProxyPath of(Object bean, Method method) {
        List<Advisor> advisors = new ArrayList<>();
        Object object = bean;
        while (object instanceof Advised proxy) {
            Object target = proxy.getTargetSource().isStatic() ? AopProxyUtils.getSingletonTarget(proxy) : null;
            Class<?> targetClass = (target != null) ? target.getClass() : AopUtils.getTargetClass(proxy);
            Arrays.stream(proxy.getAdvisors())
                    .filter(advisor -> applies(advisor, proxy, method, targetClass))
                    .forEach(advisors::add);
            object = target;
        }
        return of(advisors);
    }

    /** The proxy that is next to the bean's target, or {@code null} if it has none. */
    public static @Nullable Advised innermostProxyOf(Object bean) {
        Advised innermost = null;
        Object object = bean;
        while (object instanceof Advised advised && advised.getTargetSource().isStatic()) {
            innermost = advised;
            object = AopProxyUtils.getSingletonTarget(object);
        }
        return innermost;
    }

    private static ProxyPath of(List<Advisor> advisors) {
        List<Advice> around = advisors.stream()
                .takeWhile(advisor -> !(advisor instanceof Claiming))
                .map(Advisor::getAdvice)
                .toList();
        return new ProxyPath(
                around.size() < advisors.size(),
                around,
                advisors.stream()
                        .skip(around.size() + 1L)
                        .map(Advisor::getAdvice)
                        .toList());
    }

    /** Whether a class cannot override a method, which is in another package or of another class loader. */
    public static boolean isHiddenFrom(Class<?> type, Method method) {
        Class<?> declaring = method.getDeclaringClass();
        return !Modifier.isPublic(method.getModifiers())
                && !Modifier.isProtected(method.getModifiers())
                && !(declaring.getPackageName().equals(type.getPackageName())
                        && declaring.getClassLoader() == type.getClassLoader());
    }

    private static boolean applies(Advisor advisor, Advised proxy, Method method, Class<?> targetClass) {
        if (!(advisor instanceof PointcutAdvisor pointcutAdvisor)) {
            return !(advisor instanceof IntroductionAdvisor);
        }
        Pointcut pointcut = pointcutAdvisor.getPointcut();
        return (proxy.isPreFiltered() || pointcut.getClassFilter().matches(targetClass))
                && MethodMatchers.matches(pointcut.getMethodMatcher(), method, targetClass, false);
    }
}
