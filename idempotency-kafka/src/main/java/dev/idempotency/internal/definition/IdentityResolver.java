package dev.idempotency.internal.definition;

import dev.idempotency.MessageId;
import dev.idempotency.StartupCheck;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.key.ExpressionKeySource;
import dev.idempotency.internal.key.KeySource;
import dev.idempotency.key.MessageKeyResolver;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.StringUtils;

/** Resolves the names of consumers, and where the keys and versions of their messages come from. */
final class IdentityResolver {

    private static final Map<String, String> EXAMPLES =
            Map.of("key", "eventId", "version", "version", "lock", "customerId");

    private final ConfigurableBeanFactory beanFactory;
    private final MessageKeyResolver byDefault;
    private final AnnotationTexts texts;
    private final Map<String, String> groupsByMainListener = new ConcurrentHashMap<>();

    /** {@code byDefault} finds the keys of listeners without an expression. */
    IdentityResolver(ConfigurableBeanFactory beanFactory, MessageKeyResolver byDefault) {
        this.beanFactory = beanFactory;
        this.byDefault = byDefault;
        this.texts = new AnnotationTexts(beanFactory);
    }

    /** Returns the name that a listener is given, or else one made of group, class and method. */
    String consumerOf(ListenerCandidate listener) {
        String given = this.texts.resolve(listener.annotation().consumer(), StartupCheck.CONSUMER_NAME);
        String consumer = StringUtils.hasText(given) ? given : groupOf(listener.container()) + "/" + listener.name();
        if (consumer.length() > MessageId.MAX_CONSUMER_LENGTH) {
            throw ListenerFault.found(
                    StartupCheck.CONSUMER_NAME,
                    "The consumer name '%s' has %d characters, but at most %d fit."
                            .formatted(consumer, consumer.length(), MessageId.MAX_CONSUMER_LENGTH),
                    "Name a shorter one in @IdempotentListener(consumer = …).");
        }
        return consumer;
    }

    /** Retry topics have separate groups, but belong to the same consumer: the main listener's group counts. */
    private String groupOf(AbstractMessageListenerContainer<?, ?> container) {
        String group = Objects.requireNonNullElse(container.getGroupId(), "-");
        if (container.getMainListenerId() != null) {
            return this.groupsByMainListener.getOrDefault(container.getMainListenerId(), group);
        }
        this.groupsByMainListener.put(Objects.requireNonNullElse(container.getListenerId(), ""), group);
        return group;
    }

    KeySource keysOf(ListenerCandidate listener, String expression, ListenerMethod method, TopicIdTracker topics) {
        return switch (listener.annotation().strategy()) {
            case OFFSET -> KeySource.OFFSET;
            case UNIQUE_CONSTRAINT ->
                KeySource.coordinates("the constraint "
                        + this.texts.resolveIfPossible(listener.annotation().uniqueConstraint()));
            case MESSAGE_ID, VERSION -> {
                KeySource own = parse("key", expression, method, topics);
                yield (own != null) ? own : KeySource.of(this.byDefault);
            }
        };
    }

    /** Parses an expression for the role {@code key}, {@code version} or {@code lock}; {@code null} if there is none. */
    @Nullable
    ExpressionKeySource parse(String role, String expression, ListenerMethod method, TopicIdTracker topics) {
        if (!StringUtils.hasText(expression)) {
            return null;
        }
        try {
            return new ExpressionKeySource(role, expression, method.parameterNames(), this.beanFactory, topics::of);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    role.equals("lock") ? StartupCheck.LOCK : StartupCheck.KEY_EXPRESSION,
                    ex.getMessage() + ".",
                    method.hasParameterNames()
                            ? "Write an expression such as @IdempotentListener(%s = \"#payload.%s\")."
                                    .formatted(role, EXAMPLES.get(role))
                            : "Compile with -parameters, as Spring Boot's parent POM and Gradle plugin do: without it the"
                                    + " names of arguments are not known. Or use #payload.");
        }
    }
}
