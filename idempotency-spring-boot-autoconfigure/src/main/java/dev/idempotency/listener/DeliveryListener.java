package dev.idempotency.listener;

import dev.idempotency.definition.IdempotencyInfrastructure;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.ConsumerThreadState;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.kafka.listener.adapter.AbstractDelegatingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;

/** Wraps a listener to bind what it is given to the thread. */
abstract class DeliveryListener<T> extends AbstractDelegatingMessageListenerAdapter<T>
        implements IdempotencyInfrastructure {

    final ProtectedMethods methods;

    DeliveryListener(T delegate, ProtectedMethods methods) {
        super(delegate);
        this.methods = methods;
    }

    @Override
    public void registerSeekCallback(ConsumerSeekCallback callback) {
        super.registerSeekCallback(watch(callback));
    }

    @Override
    public void onPartitionsAssigned(Map<TopicPartition, Long> assignments, ConsumerSeekCallback callback) {
        this.methods.assigned(assignments.keySet());
        ConsumerThreadState.current().starts().putAll(assignments);
        super.onPartitionsAssigned(assignments, watch(callback));
    }

    /** A callback that notices when the application seeks, and when a listener does back to its own message. */
    private static ConsumerSeekCallback watch(ConsumerSeekCallback callback) {
        return (ConsumerSeekCallback) Proxy.newProxyInstance(
                DeliveryListener.class.getClassLoader(),
                new Class<?>[] {ConsumerSeekCallback.class},
                (proxy, method, arguments) -> {
                    if (method.getName().startsWith("seek")) {
                        ConsumerThreadState.current().starts().clear();
                    }
                    Delivery delivery = Delivery.current();
                    if (delivery != null && method.getName().equals("seek") && arguments[2] instanceof Long offset) {
                        delivery.seek((String) arguments[0], (Integer) arguments[1], offset);
                    }
                    return AopUtils.invokeJoinpointUsingReflection(callback, method, arguments);
                });
    }

    /** The filter that it applies itself, if it does. */
    @Nullable
    RecordFilterStrategy<?, ?> filter() {
        return null;
    }
}
