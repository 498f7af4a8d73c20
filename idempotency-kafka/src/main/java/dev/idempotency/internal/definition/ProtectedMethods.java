package dev.idempotency.internal.definition;

import dev.idempotency.internal.kafka.TopicIdTracker;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/**
 * The protected methods behind one container: one, or all the handlers of a class.
 *
 * @param hasTransactionPerPoll whether a record listener shares one transaction among all records of a poll
 * @param hasErrorHandler whether the listener has a {@code KafkaListenerErrorHandler}, which may handle failures in place of
 *     the container
 */
public record ProtectedMethods(
        Map<Method, ListenerDefinition> byMethod,
        boolean hasTransactionPerPoll,
        boolean hasErrorHandler,
        TopicIdTracker topics,
        Map<Method, ListenerDefinition> byInvokedMethod) {

    /** Whether all its methods are faulty, so that the application will not start. */
    public boolean isEmpty() {
        return this.byMethod.isEmpty();
    }

    public Collection<ListenerDefinition> definitions() {
        return this.byMethod.values();
    }

    /** The consumers of its methods, by name. */
    public List<String> consumers() {
        return this.byMethod.values().stream()
                .map(ListenerDefinition::consumer)
                .sorted()
                .distinct()
                .toList();
    }

    /** Returns the first definition by name, where all have the requested in common. */
    public ListenerDefinition representative() {
        return Collections.min(this.byMethod.values(), Comparator.comparing(ListenerDefinition::consumer));
    }

    /** Returns the definition of the method that a proxy was called with, which may be an interface's. */
    @Nullable
    public ListenerDefinition definitionOf(Method invoked, @Nullable Class<?> targetClass) {
        ListenerDefinition known = this.byInvokedMethod.get(invoked);
        return (known != null)
                ? known
                : this.byInvokedMethod.computeIfAbsent(
                        invoked, key -> this.byMethod.get(AopUtils.getMostSpecificMethod(key, targetClass)));
    }
}
