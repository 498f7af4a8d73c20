package dev.idempotency.definition;

import java.util.List;

/** Looks at listeners before their containers can start. */
@FunctionalInterface
public interface ListenerInspection {

    /**
     * Called with the listeners of one container when it is complete.
     *
     * @throws RuntimeException if they must not run
     */
    void inspect(List<ProtectedListener> listeners);
}
