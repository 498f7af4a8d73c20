package dev.idempotency.test;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A consumer that redelivers every record once, after its commit.
 *
 * <p>It is a proxy, as the methods of the interface differ between versions of Kafka.
 */
final class RedeliveringConsumer<K, V> implements InvocationHandler {

    private final Consumer<K, V> delegate;
    private final BooleanSupplier wanted;
    private final DeliveredPolls<K, V> polls;
    private Set<TopicPartition> assigned = Set.of();
    private boolean idle;

    private RedeliveringConsumer(Consumer<K, V> delegate, BooleanSupplier wanted, DeliveredPolls<K, V> polls) {
        this.delegate = delegate;
        this.wanted = wanted;
        this.polls = polls;
    }

    /**
     * Wraps a consumer.
     *
     * @param wanted whether the consumer belongs to a protected listener; called on the consumer's thread
     */
    @SuppressWarnings("unchecked") // The proxy implements only this interface.
    static <K, V> Consumer<K, V> of(Consumer<K, V> delegate, BooleanSupplier wanted, DeliveredPolls<K, V> polls) {
        return (Consumer<K, V>) Proxy.newProxyInstance(
                RedeliveringConsumer.class.getClassLoader(),
                new Class<?>[] {Consumer.class},
                new RedeliveringConsumer<>(delegate, wanted, polls));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        boolean commit =
                method.getName().startsWith("commit") && !method.getName().equals("committed");
        if (commit && arguments != null && arguments.length > 0 && arguments[0] instanceof Map<?, ?> && isWanted()) {
            Object[] changed = arguments.clone();
            changed[0] = this.polls.committing(offsets(arguments[0]));
            return call(method, changed);
        }
        return method.getName().equals("poll") && isWanted() ? poll(method, arguments) : call(method, arguments);
    }

    private boolean isWanted() {
        return this.wanted.getAsBoolean();
    }

    @SuppressWarnings("unchecked") // All commit methods with a map take this type.
    private static Map<TopicPartition, OffsetAndMetadata> offsets(Object argument) {
        return (Map<TopicPartition, OffsetAndMetadata>) argument;
    }

    @SuppressWarnings("unchecked") // All poll methods return this type.
    private @Nullable Object poll(Method method, Object @Nullable [] arguments) throws Throwable {
        noticeAssignment();
        ConsumerRecords<K, V> again = this.polls.next(this.assigned, open(), this.idle);
        if (again != null) {
            return again;
        }
        ConsumerRecords<K, V> records = (ConsumerRecords<K, V>) call(method, arguments);
        this.idle = records == null || records.isEmpty();
        if (records != null) {
            this.polls.delivering(records);
        }
        return records;
    }

    private void noticeAssignment() {
        Set<TopicPartition> now = Set.copyOf(this.delegate.assignment());
        if (!now.equals(this.assigned)) {
            Set<TopicPartition> gone = new HashSet<>(this.assigned);
            gone.removeAll(now);
            this.polls.revoked(gone);
            this.assigned = now;
        }
    }

    private Set<TopicPartition> open() {
        Set<TopicPartition> open = new HashSet<>(this.assigned);
        open.removeAll(this.delegate.paused());
        return open;
    }

    private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(this.delegate, arguments);
        } catch (InvocationTargetException ex) {
            throw ex.getTargetException();
        }
    }
}
