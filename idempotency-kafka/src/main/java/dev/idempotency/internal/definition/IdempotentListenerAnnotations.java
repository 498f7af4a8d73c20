package dev.idempotency.internal.definition;

import dev.idempotency.IdempotentListener;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListeners;

/** Finds {@code @IdempotentListener}: on the method, or on its class if the method is a listener. */
public final class IdempotentListenerAnnotations {

    private IdempotentListenerAnnotations() {}

    /** The annotation that holds for a method, or {@code null} if there is none. */
    public static @Nullable IdempotentListener find(Method method, @Nullable Class<?> targetClass) {
        if (method.getDeclaringClass() == Object.class) {
            // Asked of every bean's; looking for annotations is the most that protection adds to the start of others.
            return null;
        }
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        IdempotentListener onMethod = AnnotatedElementUtils.findMergedAnnotation(specific, IdempotentListener.class);
        if (onMethod != null) {
            return onMethod;
        }
        boolean listener = isKafkaListener(specific) || isKafkaHandler(specific);
        Class<?> type = (targetClass != null) ? targetClass : specific.getDeclaringClass();
        return listener ? AnnotatedElementUtils.findMergedAnnotation(type, IdempotentListener.class) : null;
    }

    /** Whether a method, or a class, is annotated as a listener, once or repeatedly. */
    public static boolean isKafkaListener(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, KafkaListener.class)
                || AnnotatedElementUtils.hasAnnotation(element, KafkaListeners.class);
    }

    /** The methods that share the listener of their class. */
    static Set<Method> kafkaHandlers(Class<?> type) {
        return MethodIntrospector.selectMethods(type, IdempotentListenerAnnotations::isKafkaHandler);
    }

    /** Whether a method is one of those that share the listener of their class. */
    public static boolean isKafkaHandler(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, KafkaHandler.class);
    }
}
