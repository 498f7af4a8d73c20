package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.definition.ProxyPath;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.springframework.aop.support.AopUtils;

/** Whether the container's call passes the proxy that claims. */
final class ProxyCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Report report) {
        Class<?> type = listener.targetClass();
        Method method = listener.method();
        int modifiers = method.getModifiers();
        boolean byInterface = AopUtils.isJdkDynamicProxy(listener.bean());
        if (Modifier.isStatic(modifiers)) {
            refuse(report, "The method is static", "Remove static from the method.");
        } else if (Modifier.isPrivate(modifiers)) {
            refuse(report, "The method is private", "Remove private from the method.");
        } else if (Modifier.isFinal(modifiers) && !byInterface) {
            refuse(
                    report,
                    "The method is final",
                    "Remove final from the method (in Kotlin: open fun in an open class, or the plugin kotlin-spring).");
        } else if (Modifier.isFinal(type.getModifiers()) && !byInterface) {
            refuse(
                    report,
                    "The class is final",
                    "Remove final from the class (in Kotlin: open class, or the plugin kotlin-spring); a record cannot"
                            + " be a listener.");
        } else if (ProxyPath.isHiddenFrom(type, method)) {
            refuse(
                    report,
                    "The method is package-private in %s, and the bean's class %s is in another package"
                            .formatted(method.getDeclaringClass().getName(), type.getName()),
                    "Make the method protected or public.");
        } else if (!ProxyPath.of(listener.bean(), method).claims()) {
            report.add(
                    Check.NOT_PROXIED,
                    "The bean has no proxy of the application's auto-proxying that its container's call would pass: it"
                            + " was created before that was ready (a BeanPostProcessor needs it), or something has"
                            + " replaced it by itself or a proxy of its own.",
                    "Let BeanPostProcessors take it as an ObjectProvider or @Lazy; return the plain object from @Bean"
                            + " methods, and let proxies be made by advisors.");
        }
    }

    private static void refuse(Report report, String what, String remedy) {
        report.add(Check.NOT_PROXIED, what + ", so that no proxy can come between it and its container.", remedy);
    }
}
