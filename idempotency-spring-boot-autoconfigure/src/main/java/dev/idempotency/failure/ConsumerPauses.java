package dev.idempotency.failure;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Pauses consumers for a while. A paused consumer goes on polling, so a pause of any length costs it no partition.
 *
 * <p>Of a container with several consumers only the one that a partition is assigned to is paused. A container that the
 * application has paused stays paused.
 */
final class ConsumerPauses implements AutoCloseable {

    private final Map<MessageListenerContainer, Future<?>> resumptions = new ConcurrentHashMap<>();
    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor(runnable -> {
        Thread thread = new Thread(runnable, "idempotency-resume");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * Pauses the consumer of a partition.
     *
     * @param whenLost called if the partition is no longer that consumer's when the pause is over
     */
    void pause(MessageListenerContainer container, TopicPartition partition, Duration duration, Runnable whenLost) {
        MessageListenerContainer consumer = container.getContainerFor(partition.topic(), partition.partition());
        if (consumer instanceof ConcurrentMessageListenerContainer) {
            // Not assigned to any of its consumers: somebody else will be given what failed here.
            whenLost.run();
            return;
        }
        boolean pausedByApplication = consumer.isPauseRequested() && !this.resumptions.containsKey(consumer);
        consumer.pause();
        Future<?> earlier = this.resumptions.put(
                consumer,
                this.scheduler.schedule(
                        () -> {
                            this.resumptions.remove(consumer);
                            boolean staysPaused =
                                    (consumer == container) ? pausedByApplication : container.isPauseRequested();
                            if (!staysPaused) {
                                consumer.resume();
                            }
                            if (!isAssigned(consumer, partition)) {
                                whenLost.run();
                            }
                        },
                        duration.toMillis(),
                        TimeUnit.MILLISECONDS));
        if (earlier != null) {
            earlier.cancel(false);
        }
    }

    private static boolean isAssigned(MessageListenerContainer consumer, TopicPartition partition) {
        Collection<TopicPartition> assigned = consumer.getAssignedPartitions();
        return consumer.isRunning() && assigned != null && assigned.contains(partition);
    }

    @Override
    public void close() {
        this.scheduler.shutdownNow();
    }
}
