package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.key.ExpressionKeySource;
import dev.idempotency.key.KeySource;
import dev.idempotency.key.MessageKeyResolver;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.StringUtils;

/**
 * Works out where the keys and versions of a listener's messages come from.
 *
 * @param beanFactory whose beans expressions may use
 * @param byDefault finds the keys of listeners without an expression
 * @param texts resolves the texts of annotations
 */
record KeySourceResolver(BeanFactory beanFactory, MessageKeyResolver byDefault, AnnotationTexts texts) {

    KeySource resolve(
            Strategy strategy,
            IdempotentListener annotation,
            String expression,
            ListenerMethod method,
            TopicIdTracker topics) {
        return switch (strategy) {
            case OFFSET -> KeySource.OFFSET;
            case UNIQUE_CONSTRAINT ->
                KeySource.coordinates("the constraint " + this.texts.resolveIfPossible(annotation.uniqueConstraint()));
            case MESSAGE_ID, VERSION -> ofKeys(expression, method, topics);
        };
    }

    private KeySource ofKeys(String expression, ListenerMethod method, TopicIdTracker topics) {
        return StringUtils.hasText(expression)
                ? parse(
                        "key",
                        () -> new ExpressionKeySource(
                                expression, method.parameterNames(), this.beanFactory, topics::of))
                : KeySource.of(this.byDefault);
    }

    /** Where versions come from; {@code null} if the listener has none. */
    @Nullable
    ExpressionKeySource resolveVersions(
            Strategy strategy, String expression, ListenerMethod method, TopicIdTracker topics) {
        return (strategy == Strategy.VERSION && StringUtils.hasText(expression))
                ? parse(
                        "version",
                        () -> ExpressionKeySource.ofVersion(
                                expression, method.parameterNames(), this.beanFactory, topics::of))
                : null;
    }

    private static ExpressionKeySource parse(String attribute, Supplier<ExpressionKeySource> expression) {
        try {
            return expression.get();
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.KEY_EXPRESSION,
                    ex.getMessage() + ".",
                    "Mend the expression in @IdempotentListener(%s = …).".formatted(attribute));
        }
    }
}
