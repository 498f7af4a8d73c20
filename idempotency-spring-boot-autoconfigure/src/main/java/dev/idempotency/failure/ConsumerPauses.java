package dev.idempotency.failure;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Pauses consumers for a while. A paused consumer goes on polling, so a pause of any length costs it no partition.
 *
 * <p>Of a container with several consumers only the one that a partition is assigned to is paused. All its partitions are
 * paused, one by one: the pause of a container as a whole is the application's, and neither ends the other.
 */
final class ConsumerPauses implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ConsumerPauses.class);

    private static final Duration LOOK_AGAIN_AFTER = Duration.ofMillis(100);

    /** The partitions that are paused here, and not by the application. No two pauses are equal. */
    private static final class Pause {

        private final MessageListenerContainer consumer;
        private final Set<TopicPartition> partitions;

        Pause(MessageListenerContainer consumer, Set<TopicPartition> partitions) {
            this.consumer = consumer;
            this.partitions = partitions;
        }
    }

    private final Map<MessageListenerContainer, Pause> pauses = new HashMap<>();
    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor(runnable -> {
        Thread thread = new Thread(runnable, "idempotency-resume");
        thread.setDaemon(true);
        return thread;
    });

    /** Pauses the consumer of a partition, unless that is somebody else's by now, who will be given what failed here. */
    void pause(MessageListenerContainer container, TopicPartition partition, Duration duration) {
        MessageListenerContainer consumer = container.getContainerFor(partition.topic(), partition.partition());
        if (consumer instanceof ConcurrentMessageListenerContainer) {
            return;
        }
        Pause pause = begin(consumer, partition);
        schedule(
                () -> {
                    if (end(pause)) {
                        ensureResumed(pause);
                    }
                },
                duration);
    }

    private synchronized Pause begin(MessageListenerContainer consumer, TopicPartition partition) {
        Pause earlier = this.pauses.get(consumer);
        Set<TopicPartition> partitions = new HashSet<>((earlier != null) ? earlier.partitions : Set.of());
        @Nullable Collection<TopicPartition> assigned = consumer.getAssignedPartitions();
        Set<TopicPartition> wanted = new HashSet<>((assigned != null) ? assigned : Set.of());
        wanted.add(partition);
        for (TopicPartition each : wanted) {
            if (!consumer.isPartitionPauseRequested(each)) {
                consumer.pausePartition(each);
                partitions.add(each);
            }
        }
        Pause pause = new Pause(consumer, partitions);
        this.pauses.put(consumer, pause);
        return pause;
    }

    /** Ends a pause, unless another one has taken its place. */
    private synchronized boolean end(Pause pause) {
        if (!this.pauses.remove(pause.consumer, pause)) {
            return false;
        }
        pause.partitions.forEach(pause.consumer::resumePartition);
        return true;
    }

    /** A consumer that was about to poll has not been woken up, and would notice only after its poll. */
    private void ensureResumed(Pause pause) {
        MessageListenerContainer consumer = pause.consumer;
        schedule(
                () -> {
                    List<TopicPartition> late = pause.partitions.stream()
                            .filter(partition -> consumer.isPartitionPaused(partition)
                                    && !consumer.isPartitionPauseRequested(partition))
                            .toList();
                    if (!late.isEmpty() && consumer.isRunning() && !consumer.isPauseRequested()) {
                        late.forEach(consumer::resumePartition);
                        ensureResumed(pause);
                    }
                },
                LOOK_AGAIN_AFTER);
    }

    private void schedule(Runnable task, Duration delay) {
        try {
            this.scheduler.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException ex) {
            // A container that outlives the application's shutdown has nothing to resume for.
            logger.debug("The application is shutting down: a consumer stays paused");
        }
    }

    @Override
    public void close() {
        this.scheduler.shutdownNow();
    }
}
