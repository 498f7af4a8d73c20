package dev.idempotency.check;

import dev.idempotency.IdempotentListener;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListeners;

/**
 * A method of a bean that asks for protection.
 *
 * @param beanName the bean
 * @param type the user's class
 * @param method the method
 */
record AnnotatedMethod(String beanName, Class<?> type, Method method) {

    /** Whether Spring Kafka takes it for a listener. */
    boolean isKafkaListener() {
        return isListener(this.method)
                || (AnnotatedElementUtils.hasAnnotation(this.method, KafkaHandler.class) && isListener(this.type));
    }

    /** Whether the method itself has the annotation, rather than its class. */
    boolean isAnnotatedItself() {
        return AnnotatedElementUtils.hasAnnotation(this.method, IdempotentListener.class);
    }

    private static boolean isListener(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, KafkaListener.class)
                || AnnotatedElementUtils.hasAnnotation(element, KafkaListeners.class);
    }
}
