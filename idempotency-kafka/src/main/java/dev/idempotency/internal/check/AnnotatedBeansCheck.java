package dev.idempotency.internal.check;

import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
import dev.idempotency.internal.check.Findings.Report;
import dev.idempotency.internal.definition.IdempotentListenerAnnotations;
import dev.idempotency.internal.definition.ProtectedListener;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Checks by the types of beans that all annotated methods are protected; {@code null} if there is no store. */
record AnnotatedBeansCheck(
        ConfigurableListableBeanFactory beanFactory,
        @Nullable List<ProtectedListener> protectedListeners,
        Findings findings) {

    void check() {
        for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null : typeOf(beanName);
            if (type != null && !type.getName().startsWith("org.springframework.")) {
                check(beanName, type);
            }
        }
    }

    private @Nullable Class<?> typeOf(String beanName) {
        if (this.beanFactory.getBeanDefinition(beanName).isAbstract()) {
            return null;
        }
        Object singleton =
                this.beanFactory.containsSingleton(beanName) ? this.beanFactory.getSingleton(beanName) : null;
        Class<?> type = (singleton != null && !this.beanFactory.isFactoryBean(beanName))
                ? AopProxyUtils.ultimateTargetClass(singleton)
                : this.beanFactory.getType(beanName, false);
        return (type != null) ? ClassUtils.getUserClass(type) : null;
    }

    private void check(String beanName, Class<?> type) {
        Set<Method> annotated = MethodIntrospector.selectMethods(
                type, (Method method) -> IdempotentListenerAnnotations.find(method, type) != null);
        annotated.forEach(method -> check(
                beanName,
                type,
                method,
                (check, what, remedy) -> this.findings.add(check, type, method, beanName, what, remedy)));
        if (annotated.isEmpty() && AnnotatedElementUtils.hasAnnotation(type, IdempotentListener.class)) {
            this.findings.add(
                    StartupCheck.NO_KAFKA_LISTENER,
                    type,
                    null,
                    beanName,
                    "The class is an @IdempotentListener, but has no @KafkaListener or @KafkaHandler method.",
                    "Add @KafkaListener to the method that receives the messages, or remove @IdempotentListener.");
        }
    }

    private void check(String beanName, Class<?> type, Method method, Report report) {
        if (this.protectedListeners == null) {
            report.add(
                    StartupCheck.NO_STORE,
                    "There is no store for its claims, as the application has no DataSource, or several and none of"
                            + " them @Primary. R2DBC connections cannot be used.",
                    "Make one javax.sql.DataSource bean @Primary, define a ProcessedMessageStore bean, or set"
                            + " idempotency.enabled=false to run all listeners unprotected.");
        } else if (!isKafkaListener(type, method)) {
            report.add(
                    StartupCheck.NO_KAFKA_LISTENER,
                    "The method is an @IdempotentListener, but no @KafkaListener, nor a @KafkaHandler in a class"
                            + " that is one.",
                    "Move @IdempotentListener to the method with @KafkaListener, or add @KafkaListener here.");
        } else if (this.beanFactory.containsSingleton(beanName)
                && this.protectedListeners.stream()
                        .noneMatch(listener -> listener.method().equals(method)
                                && ClassUtils.getUserClass(listener.targetClass())
                                        .equals(type))) {
            // A bean that is lazy gets its container, and is checked, later.
            report.add(
                    StartupCheck.NOT_REGISTERED,
                    "Spring Kafka has not registered the listener: its bean was created too early (a BeanPostProcessor"
                            + " needs it) or has a @Scope with a proxy, @EnableKafka is missing, or its container factory"
                            + " makes share consumers.",
                    "Let BeanPostProcessors take it as an ObjectProvider or @Lazy and declare them in static @Bean"
                            + " methods; let listeners be singletons; use a ConcurrentKafkaListenerContainerFactory.");
        }
    }

    private static boolean isKafkaListener(Class<?> type, Method method) {
        return IdempotentListenerAnnotations.isKafkaListener(method)
                || (IdempotentListenerAnnotations.isKafkaHandler(method)
                        && IdempotentListenerAnnotations.isKafkaListener(type));
    }
}
