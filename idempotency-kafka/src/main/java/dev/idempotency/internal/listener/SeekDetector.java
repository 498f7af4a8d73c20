package dev.idempotency.internal.listener;

import dev.idempotency.internal.failure.ConsumerThreadState;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Detects that a listener seeks back to a record that it was given: its redelivery would be dropped as a duplicate. */
record SeekDetector(
        List<? extends ConsumerRecord<?, ?>> records,
        @Nullable Consumer<?, ?> consumer) {

    /** A position is known without asking the broker, unless the listener has just sought to the beginning. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Whether the consumer was given to the listener, and is positioned at or before one of the records. */
    boolean isSoughtBack(@Nullable Object[] arguments) {
        return this.consumer != null
                && Arrays.asList(arguments).contains(this.consumer)
                && this.records.stream()
                        .anyMatch(record -> position(ConsumerThreadState.partitionOf(record)) <= record.offset());
    }

    /** Whether a call of a {@code ConsumerSeekCallback}, which takes effect before the next poll, leads back. */
    boolean isSeekBack(String method, Object[] arguments) {
        return this.records.stream().anyMatch(record -> {
            TopicPartition partition = ConsumerThreadState.partitionOf(record);
            boolean own = (arguments[0] instanceof Collection<?> partitions)
                    ? partitions.contains(partition)
                    : partition.equals(new TopicPartition((String) arguments[0], (Integer) arguments[1]));
            return own
                    && switch (method) {
                        case "seek" -> offset(arguments[2], partition) <= record.offset();
                        case "seekToBeginning" -> true;
                        case "seekToTimestamp" -> (Long) arguments[arguments.length - 1] <= record.timestamp();
                        case "seekRelative" ->
                            (Boolean) arguments[3] && position(partition) <= record.offset() - (Long) arguments[2];
                        default -> false;
                    };
        });
    }

    @SuppressWarnings("unchecked")
    private long offset(Object target, TopicPartition partition) {
        return (target instanceof Function<?, ?> function)
                ? ((Function<Long, Long>) function).apply(position(partition))
                : (Long) target;
    }

    private long position(TopicPartition partition) {
        try {
            return (this.consumer != null) ? this.consumer.position(partition, TIMEOUT) : Long.MAX_VALUE;
        } catch (RuntimeException ex) {
            // Not known, or not assigned any more.
            return Long.MAX_VALUE;
        }
    }
}
