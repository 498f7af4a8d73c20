package dev.idempotency.definition;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.definition.ListenerFault.Kind;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** The names under which listeners record their messages: those they are given, or those of group, class and method. */
final class ConsumerNameResolver {

    private final AnnotationTextResolver texts;
    private final Map<String, String> groupsByMainListener = new ConcurrentHashMap<>();

    ConsumerNameResolver(AnnotationTextResolver texts) {
        this.texts = texts;
    }

    /** All handlers of a class are one listener: which one is called depends on the payload, not on the message. */
    static String ofListener(Method method, Class<?> targetClass, AnnotatedElement element) {
        String type = ClassUtils.getUserClass(targetClass).getSimpleName();
        return (element instanceof Method) ? type + "." + method.getName() : type;
    }

    String of(IdempotentListener annotation, String listener, AbstractMessageListenerContainer<?, ?> container) {
        String named = this.texts.resolve(annotation.consumer(), Kind.CONSUMER_NAME);
        String consumer = StringUtils.hasText(named) ? named : group(container) + "/" + listener;
        if (consumer.length() > MessageId.MAX_CONSUMER_LENGTH) {
            throw ListenerFaultCollector.found(
                    Kind.CONSUMER_NAME,
                    "The consumer name '%s' has %d characters, but at most %d fit."
                            .formatted(consumer, consumer.length(), MessageId.MAX_CONSUMER_LENGTH),
                    "Name a shorter one in @IdempotentListener(consumer = …).");
        }
        return consumer;
    }

    /** Retry topics have groups of their own, but they are consumed for the same consumer: the main listener's counts. */
    private String group(AbstractMessageListenerContainer<?, ?> container) {
        String group = Objects.requireNonNullElse(container.getGroupId(), "-");
        String listenerId = Objects.requireNonNullElse(container.getListenerId(), "");
        if (container.getMainListenerId() == null) {
            this.groupsByMainListener.put(listenerId, group);
            return group;
        }
        return this.groupsByMainListener.getOrDefault(container.getMainListenerId(), group);
    }
}
