package dev.idempotency.definition;

import dev.idempotency.kafka.ContainerFacts;
import java.lang.reflect.AnnotatedElement;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;

/**
 * Which listeners have retry topics: by their annotation, or by a bean for their topics.
 *
 * @param beanFactory where beans are looked for, as Spring Kafka does
 */
record RetryTopics(ListableBeanFactory beanFactory) {

    /** Whether the container of a listener reads a retry topic, or what fails in it goes to one. */
    boolean areOf(ListenerCandidate listener) {
        return listener.container().getMainListenerId() != null
                || isAnnotated(listener.element())
                || isAnnotated(listener.method())
                || isAnnotated(listener.targetClass())
                || areConfiguredFor(
                        ContainerFacts.topicsOf(listener.container()).toArray(String[]::new));
    }

    private boolean areConfiguredFor(String[] topics) {
        return this.beanFactory.getBeansOfType(RetryTopicConfiguration.class).values().stream()
                .anyMatch(configuration -> configuration.hasConfigurationForTopics(topics));
    }

    private static boolean isAnnotated(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RetryableTopic.class);
    }
}
