package dev.idempotency.listener;

import dev.idempotency.definition.IdempotencyInfrastructure;
import dev.idempotency.definition.ProtectedMethods;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;

/** Stands before a listener, and remembers what it is given. */
abstract class DeliveryListener<T> extends AbstractDelegatingMessageListenerAdapter<T>
        implements IdempotencyInfrastructure {

    final ProtectedMethods methods;

    DeliveryListener(T delegate, ProtectedMethods methods) {
        super(delegate);
        this.methods = methods;
    }
}
