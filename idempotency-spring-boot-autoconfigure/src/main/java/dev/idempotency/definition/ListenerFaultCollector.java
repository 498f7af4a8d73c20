package dev.idempotency.definition;

import dev.idempotency.definition.ListenerFault.Kind;
import java.io.Serial;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects what is wrong with a listener, so that all of it can be told at once. */
public final class ListenerFaultCollector {

    private final List<ListenerFault> found = new ArrayList<>();

    /** What the attempt gives, or the substitute if it finds a fault. */
    <T extends @Nullable Object> T collect(T substitute, Supplier<T> attempt) {
        try {
            return attempt.get();
        } catch (Found ex) {
            this.found.add(ex.fault);
            return substitute;
        }
    }

    void addAll(List<ListenerFault> faults) {
        this.found.addAll(faults);
    }

    public List<ListenerFault> found() {
        return this.found;
    }

    public static Found found(Kind kind, String what, String remedy) {
        return new Found(new ListenerFault(kind, what, remedy));
    }

    /** Ends an attempt at its fault. */
    static final class Found extends RuntimeException {

        @Serial
        private static final long serialVersionUID = 1L;

        private final transient ListenerFault fault;

        private Found(ListenerFault fault) {
            super(fault.what(), null, false, false);
            this.fault = fault;
        }
    }
}
