package dev.idempotency.definition;

import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.SpringKafkaInternals;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;

/**
 * The methods of a bean that a container calls, and whether it was prepared to have their messages claimed.
 *
 * @param bean the bean
 * @param methods its methods: one, or all the handlers of a class
 * @param prepared whether the container remembers what it delivers
 */
public record CalledMethods(Object bean, List<Method> methods, boolean prepared) {

    /** What the container calls, or {@code null} if that is not a method of a bean. */
    public static @Nullable CalledMethods of(MessageListenerContainer container) {
        HandlerAdapter handler =
                (ContainerFacts.innermostListenerOf(container) instanceof MessagingMessageListenerAdapter<?, ?> adapter)
                        ? SpringKafkaInternals.handlerOf(adapter)
                        : null;
        if (handler == null) {
            return null;
        }
        boolean prepared =
                ContainerFacts.listenersOf(container).stream().anyMatch(IdempotencyInfrastructure.class::isInstance);
        return new CalledMethods(handler.getBean(), SpringKafkaInternals.methodsOf(handler), prepared);
    }

    /** Whether a call of any of the methods passes the proxy that claims; where one does not, start-up checks say so. */
    public boolean areClaimed() {
        return !this.methods.isEmpty()
                && this.methods.stream()
                        .allMatch(method -> ProxyPath.of(this.bean, method).claims());
    }
}
