package dev.idempotency.definition;

import java.util.List;
import java.util.stream.Collectors;

/** Looks at listeners before their containers can start. */
@FunctionalInterface
public interface ListenerInspection {

    /** Refuses listeners that cannot be protected, and looks at nothing else. */
    ListenerInspection OF_FAULTS = listeners -> {
        String faults = listeners.stream()
                .flatMap(listener -> listener.faults().stream()
                        .map(fault -> listener.method() + ": " + fault.what() + " " + fault.remedy()))
                .collect(Collectors.joining("\n"));
        if (!faults.isEmpty()) {
            throw new IllegalStateException(faults);
        }
    };

    /**
     * Called with the listeners of one container when it is complete.
     *
     * @throws RuntimeException if they must not run
     */
    void inspect(List<ProtectedListener> listeners);
}
