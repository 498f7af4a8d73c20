package dev.idempotency.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Pauses partitions for a while. Their consumer keeps polling, so a pause of any length costs it no partition. */
final class ConsumerPauses implements AutoCloseable {

    private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

    ConsumerPauses() {
        this.scheduler.setThreadNamePrefix("idempotency-resume-");
        this.scheduler.setDaemon(true);
        this.scheduler.initialize();
    }

    /** Pauses a partition, unless it is assigned to another application by now. */
    void pause(MessageListenerContainer container, TopicPartition partition, Duration duration) {
        pause(consumerOf(container, partition), List.of(partition), duration);
    }

    /** Pauses all partitions of the consumer that has this one. */
    void pauseAll(MessageListenerContainer container, TopicPartition partition, Duration duration) {
        MessageListenerContainer consumer = consumerOf(container, partition);
        @Nullable Collection<TopicPartition> assigned = (consumer != null) ? consumer.getAssignedPartitions() : null;
        pause(consumer, (assigned != null) ? Set.copyOf(assigned) : Set.of(), duration);
    }

    private void pause(
            @Nullable MessageListenerContainer consumer, Collection<TopicPartition> partitions, Duration duration) {
        if (consumer == null) {
            return;
        }
        List<TopicPartition> paused = partitions.stream()
                .filter(each -> !consumer.isPartitionPauseRequested(each))
                .toList();
        paused.forEach(consumer::pausePartition);
        try {
            // Together, not by a ListenerContainerPauseService: each resumption wakes the consumer, and the second
            // would
            // interrupt the commit of records polled after the first.
            this.scheduler.schedule(
                    () -> paused.forEach(consumer::resumePartition),
                    Instant.now().plus(duration));
        } catch (TaskRejectedException ex) {
            // The application is shutting down: there is nothing to resume for.
        }
    }

    /** The container of one consumer, which resumes what it paused, even if the partition has moved meanwhile. */
    private static @Nullable MessageListenerContainer consumerOf(
            MessageListenerContainer container, TopicPartition partition) {
        MessageListenerContainer consumer = container.getContainerFor(partition.topic(), partition.partition());
        return (consumer instanceof ConcurrentMessageListenerContainer) ? null : consumer;
    }

    @Override
    public void close() {
        this.scheduler.destroy();
    }
}
