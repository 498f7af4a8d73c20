package dev.idempotency.listener;

import dev.idempotency.definition.IdempotencyInfrastructure;
import dev.idempotency.definition.ProtectedMethods;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;

/** Stands before a listener, and remembers what it is given. */
abstract class DeliveryListener<T> extends AbstractDelegatingMessageListenerAdapter<T>
        implements IdempotencyInfrastructure {

    final ProtectedMethods methods;

    DeliveryListener(T delegate, ProtectedMethods methods) {
        super(delegate);
        this.methods = methods;
    }

    /** What leaves records out before they are remembered, if this one does that itself. */
    @Nullable
    RecordFilterStrategy<?, ?> filter() {
        return null;
    }
}
