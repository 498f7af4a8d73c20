package dev.idempotency.check;

import dev.idempotency.IdempotentListener;
import dev.idempotency.definition.IdempotentListenerAnnotations;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * All of an application's methods that ask for protection, whether or not Spring Kafka knows them.
 *
 * @param methods the methods
 * @param classesWithoutMethods classes that have the annotation, but no method that it would hold for
 */
record AnnotatedBeans(List<AnnotatedMethod> methods, List<EmptyClass> classesWithoutMethods) {

    /** A bean whose class has the annotation, but no listener. */
    record EmptyClass(String beanName, Class<?> type) {}

    /** Looks at the types of all beans, without creating any. */
    static AnnotatedBeans of(ConfigurableListableBeanFactory beanFactory) {
        AnnotatedBeans found = new AnnotatedBeans(new ArrayList<>(), new ArrayList<>());
        for (String beanName : beanFactory.getBeanDefinitionNames()) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(beanName) ? null : typeOf(beanName, beanFactory);
            if (type != null && !type.getName().startsWith("org.springframework.")) {
                found.add(beanName, type);
            }
        }
        return found;
    }

    private static @Nullable Class<?> typeOf(String beanName, ConfigurableListableBeanFactory beanFactory) {
        if (beanFactory.getBeanDefinition(beanName).isAbstract()) {
            return null;
        }
        Object singleton = beanFactory.containsSingleton(beanName) ? beanFactory.getSingleton(beanName) : null;
        Class<?> type = (singleton != null && !beanFactory.isFactoryBean(beanName))
                ? AopProxyUtils.ultimateTargetClass(singleton)
                : beanFactory.getType(beanName, false);
        return (type != null) ? ClassUtils.getUserClass(type) : null;
    }

    private void add(String beanName, Class<?> type) {
        Set<Method> annotated = MethodIntrospector.selectMethods(
                type, (Method method) -> IdempotentListenerAnnotations.find(method, type) != null);
        annotated.forEach(method -> this.methods.add(new AnnotatedMethod(beanName, type, method)));
        if (annotated.isEmpty() && AnnotatedElementUtils.hasAnnotation(type, IdempotentListener.class)) {
            this.classesWithoutMethods.add(new EmptyClass(beanName, type));
        }
    }
}
