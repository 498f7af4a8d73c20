package dev.idempotency.internal.definition;

import dev.idempotency.IdempotentListener;
import dev.idempotency.internal.kafka.ListenerContainers;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.util.ClassUtils;

/** A method that asks for protection, behind one of its containers; the element has the {@code @KafkaListener}. */
record ListenerCandidate(
        IdempotentListener annotation,
        Object bean,
        Method method,
        AnnotatedElement element,
        AbstractMessageListenerContainer<?, ?> container) {

    /** Those behind a container: one, or all the handlers of a class. */
    static List<ListenerCandidate> allOf(
            Object bean, AnnotatedElement element, AbstractMessageListenerContainer<?, ?> container) {
        Class<?> targetClass = AopUtils.getTargetClass(bean);
        List<ListenerCandidate> candidates = new ArrayList<>();
        for (Method method : methodsOf(element, targetClass)) {
            IdempotentListener annotation = IdempotentListenerAnnotations.find(method, targetClass);
            if (annotation != null) {
                candidates.add(new ListenerCandidate(annotation, bean, method, element, container));
            }
        }
        return candidates;
    }

    private static Set<Method> methodsOf(AnnotatedElement element, Class<?> targetClass) {
        return (element instanceof Method method)
                ? Set.of(AopUtils.getMostSpecificMethod(method, targetClass))
                : IdempotentListenerAnnotations.kafkaHandlers(targetClass);
    }

    Class<?> targetClass() {
        return AopUtils.getTargetClass(this.bean);
    }

    /** Its class and method. All handlers of a class are one listener: which is called depends on the payload alone. */
    String name() {
        String type = ClassUtils.getUserClass(targetClass()).getSimpleName();
        // Kotlin appends the module's name, which depends on the build, to the name of an internal function.
        boolean kotlin = KotlinDetector.isKotlinType(this.method.getDeclaringClass());
        String name = kotlin ? this.method.getName().replaceFirst("(?<=.)\\$.*", "") : this.method.getName();
        return (this.element instanceof Method) ? type + "." + name : type;
    }

    /** Whether its container reads a retry topic, or what fails in it goes to one. */
    boolean hasRetryTopics(ListableBeanFactory beanFactory) {
        String[] topics = ListenerContainers.topicsOf(this.container).toArray(String[]::new);
        return this.container.getMainListenerId() != null
                || Stream.of(this.element, this.method, targetClass())
                        .anyMatch(annotated -> AnnotatedElementUtils.hasAnnotation(annotated, RetryableTopic.class))
                || beanFactory.getBeansOfType(RetryTopicConfiguration.class).values().stream()
                        .anyMatch(configuration -> configuration.hasConfigurationForTopics(topics));
    }

    /** Whether its container reads the dead letters of retry topics: it is made of the same annotation, and calls another method. */
    boolean readsDeadLetters(BeanFactory beanFactory) {
        String main = this.container.getMainListenerId();
        return main != null
                && beanFactory.getBeanProvider(DestinationTopicResolver.class).stream()
                        .anyMatch(resolver -> ListenerContainers.topicsOf(this.container).stream()
                                .anyMatch(topic -> resolver.getDestinationTopicByName(main, topic)
                                        .isDltTopic()));
    }
}
