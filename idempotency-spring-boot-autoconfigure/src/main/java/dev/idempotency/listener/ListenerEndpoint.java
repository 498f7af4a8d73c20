package dev.idempotency.listener;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/** The protected methods behind one container: one, or all the handlers of a class. */
final class ListenerEndpoint {

    private final Map<Method, ListenerDefinition> definitions;
    private final Map<Method, ListenerDefinition> byInvokedMethod = new ConcurrentHashMap<>();

    ListenerEndpoint(Map<Method, ListenerDefinition> definitions) {
        this.definitions = Map.copyOf(definitions);
    }

    /** The definition of the method that a proxy was called with, which may be that of an interface. */
    @Nullable
    ListenerDefinition definitionOf(Method invoked, @Nullable Class<?> targetClass) {
        ListenerDefinition known = this.byInvokedMethod.get(invoked);
        if (known != null) {
            return known;
        }
        ListenerDefinition found = this.definitions.get(AopUtils.getMostSpecificMethod(invoked, targetClass));
        if (found != null) {
            this.byInvokedMethod.put(invoked, found);
        }
        return found;
    }
}
