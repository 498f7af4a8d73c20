package dev.idempotency.definition;

import dev.idempotency.Check.Finding;
import dev.idempotency.FailedChecksException;
import java.util.List;

/** Looks at listeners before their containers can start. */
@FunctionalInterface
public interface ListenerInspection {

    /** Refuses listeners that could not be defined, and looks at nothing else. */
    ListenerInspection OF_FAULTS = listeners -> {
        List<Finding> faults = listeners.stream()
                .flatMap(listener -> listener.faults().stream()
                        .map(fault ->
                                new Finding(fault.check(), listener.method().toString(), fault.what(), fault.remedy())))
                .toList();
        if (!faults.isEmpty()) {
            throw new FailedChecksException(faults);
        }
    };

    /**
     * Called with the listeners of one container when it is complete.
     *
     * @throws RuntimeException if they must not run
     */
    void inspect(List<ProtectedListener> listeners);
}
