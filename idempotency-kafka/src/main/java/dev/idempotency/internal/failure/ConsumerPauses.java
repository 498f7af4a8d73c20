package dev.idempotency.internal.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
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

    /** Pauses a partition, alone or with all others of its consumer, unless it is assigned to another application by now. */
    void pause(MessageListenerContainer container, TopicPartition partition, boolean alone, Duration duration) {
        // The container of one consumer, which resumes what it paused, even if the partition has moved meanwhile.
        MessageListenerContainer consumer = container.getContainerFor(partition.topic(), partition.partition());
        if (consumer instanceof ConcurrentMessageListenerContainer) {
            return;
        }
        @Nullable Collection<TopicPartition> assigned = alone ? List.of(partition) : consumer.getAssignedPartitions();
        List<TopicPartition> paused = Stream.ofNullable(assigned)
                .flatMap(Collection::stream)
                .filter(each -> !consumer.isPartitionPauseRequested(each))
                .toList();
        paused.forEach(consumer::pausePartition);
        try {
            // Together, as each resumption wakes the consumer: a second one would interrupt the commit of records
            // polled after the first.
            this.scheduler.schedule(
                    () -> paused.forEach(consumer::resumePartition),
                    Instant.now().plus(duration));
        } catch (TaskRejectedException ex) {
            // The application is shutting down: there is nothing to resume for.
        }
    }

    @Override
    public void close() {
        this.scheduler.destroy();
    }
}
