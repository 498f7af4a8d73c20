package dev.idempotency.internal.definition;

import dev.idempotency.internal.kafka.TopicIdTracker;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/** The protected methods behind one container: one, or all the handlers of a class. */
public final class ProtectedMethods {

    private final Map<Method, ListenerDefinition> definitions;
    private final boolean transactionPerPoll;
    private final boolean errorHandler;
    private final TopicIdTracker topics;
    private final Map<Method, ListenerDefinition> byInvokedMethod = new ConcurrentHashMap<>();

    ProtectedMethods(
            Map<Method, ListenerDefinition> definitions,
            boolean transactionPerPoll,
            boolean errorHandler,
            TopicIdTracker topics) {
        this.definitions = Map.copyOf(definitions);
        this.transactionPerPoll = transactionPerPoll;
        this.errorHandler = errorHandler;
        this.topics = topics;
    }

    /** Whether all its methods are faulty, so that the application will not start. */
    public boolean isEmpty() {
        return this.definitions.isEmpty();
    }

    public Collection<ListenerDefinition> definitions() {
        return this.definitions.values();
    }

    /** Partitions are assigned to the container, and none of their records has been delivered. */
    public void assigned(Collection<TopicPartition> partitions) {
        this.topics.assigned(partitions);
    }

    /** Whether the listener has a {@code KafkaListenerErrorHandler}, which may handle failures in place of the container. */
    public boolean hasErrorHandler() {
        return this.errorHandler;
    }

    /** Whether a record listener shares one transaction among all records of a poll. */
    public boolean hasTransactionPerPoll() {
        return this.transactionPerPoll;
    }

    /** Returns the first definition by name, where all have the requested in common. */
    public ListenerDefinition representative() {
        return Collections.min(this.definitions.values(), Comparator.comparing(ListenerDefinition::consumer));
    }

    /** Returns the definition of the method that a proxy was called with, which may be an interface's. */
    @Nullable
    public ListenerDefinition definitionOf(Method invoked, @Nullable Class<?> targetClass) {
        return this.byInvokedMethod.computeIfAbsent(
                invoked, key -> this.definitions.get(AopUtils.getMostSpecificMethod(key, targetClass)));
    }
}
