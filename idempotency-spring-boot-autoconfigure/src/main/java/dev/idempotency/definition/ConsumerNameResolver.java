package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.MessageId;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.StringUtils;

/** The names under which listeners record their messages: those they are given, or those of group, class and method. */
final class ConsumerNameResolver {

    private final Map<String, String> groupsByMainListener = new ConcurrentHashMap<>();

    /**
     * The name of a listener.
     *
     * @param given the name that it is given, or an empty text
     */
    String nameOf(ListenerCandidate listener, String given) {
        String consumer = StringUtils.hasText(given) ? given : groupOf(listener.container()) + "/" + listener.name();
        if (consumer.length() > MessageId.MAX_CONSUMER_LENGTH) {
            throw ListenerFault.found(
                    Check.CONSUMER_NAME,
                    "The consumer name '%s' has %d characters, but at most %d fit."
                            .formatted(consumer, consumer.length(), MessageId.MAX_CONSUMER_LENGTH),
                    "Name a shorter one in @IdempotentListener(consumer = …).");
        }
        return consumer;
    }

    /** Retry topics have groups of their own, but they are consumed for the same consumer: the main listener's counts. */
    private String groupOf(AbstractMessageListenerContainer<?, ?> container) {
        String group = Objects.requireNonNullElse(container.getGroupId(), "-");
        String listenerId = Objects.requireNonNullElse(container.getListenerId(), "");
        if (container.getMainListenerId() == null) {
            this.groupsByMainListener.put(listenerId, group);
            return group;
        }
        return this.groupsByMainListener.getOrDefault(container.getMainListenerId(), group);
    }
}
