package dev.idempotency.internal.failure;

import dev.idempotency.internal.database.Causes;
import java.io.Serial;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

/**
 * Names the record at which a batch or poll failed. Error handlers commit the offsets of all records before that one, so
 * what a listener or an interceptor names is not trusted: the batch is split instead.
 */
public final class BatchFailure {

    private static final class Trusted extends BatchListenerFailedException {

        @Serial
        private static final long serialVersionUID = 1L;

        /** Partitions in the order in which they were delivered. */
        private final LinkedHashSet<TopicPartition> partitions = new LinkedHashSet<>();

        Trusted(Throwable cause, ConsumerRecord<?, ?> record, List<? extends ConsumerRecord<?, ?>> delivered) {
            super(String.valueOf(cause.getMessage()), cause, record);
            delivered.forEach(each -> this.partitions.add(ConsumerThreadState.partitionOf(each)));
        }
    }

    private BatchFailure() {}

    /** Tells the error handler that this one of the delivered records failed, and all before it are committed. */
    public static RuntimeException at(
            ConsumerRecord<?, ?> record, List<? extends ConsumerRecord<?, ?>> delivered, Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null
                && (cause instanceof ListenerExecutionFailedException
                        || cause instanceof BatchListenerFailedException)) {
            cause = cause.getCause();
        }
        return new Trusted(cause, record, delivered);
    }

    /** The record that was named by {@link #at}, or {@code null}. */
    static @Nullable ConsumerRecord<?, ?> recordOf(Throwable failure) {
        Trusted named = Causes.of(failure).find(Trusted.class);
        return (named != null) ? named.getRecord() : null;
    }

    /** The failure as a record listener's would be, around the exception that the listener threw. */
    static Exception withoutName(Exception failure) {
        if (!(failure instanceof ListenerExecutionFailedException listener)
                || !(failure.getCause() instanceof Trusted named)
                || named.getCause() == null) {
            return failure;
        }
        Exception unnamed = new ListenerExecutionFailedException(
                String.valueOf(named.getCause().getMessage()), listener.getGroupId(), named.getCause());
        unnamed.setStackTrace(failure.getStackTrace());
        return unnamed;
    }

    /** Puts polled records into the order in which they were delivered, which an interceptor may have changed. */
    static <K, V> ConsumerRecords<K, V> inOrder(ConsumerRecords<K, V> polled, Throwable failure) {
        Trusted named = Causes.of(failure).find(Trusted.class);
        Map<TopicPartition, List<ConsumerRecord<K, V>>> ordered = new LinkedHashMap<>();
        if (named != null) {
            named.partitions.forEach(partition -> ordered.put(partition, polled.records(partition)));
        }
        polled.partitions().forEach(partition -> ordered.putIfAbsent(partition, polled.records(partition)));
        return new ConsumerRecords<>(ordered, Map.of());
    }
}
