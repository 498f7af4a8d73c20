package dev.idempotency.failure;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Handles failures outside the listener: a poll that fails, an observation, a listener of the container's events. They make
 * the container forget the records that it has polled, so everything that is not committed is redelivered.
 */
final class PollFailureHandler {

    private static final Logger logger = LoggerFactory.getLogger(PollFailureHandler.class);

    private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(10);

    /** Failures that follow one another faster than this are slowed down, or they would become a busy loop. */
    private static final long SOON_NANOS = Duration.ofSeconds(5).toNanos();

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private PollFailureHandler() {}

    static void handle(
            Exception thrown,
            CommonErrorHandler handler,
            Consumer<?, ?> consumer,
            MessageListenerContainer container,
            boolean batchListener) {
        boolean soon = ConsumerThreadState.current().recordPollFailure() < SOON_NANOS;
        try {
            seekToCommitted(consumer, container);
            handler.handleOtherException(thrown, consumer, container, batchListener);
        } finally {
            if (soon) {
                pause();
            }
        }
    }

    /** Does not return before it has succeeded: the container would continue behind what it has forgotten. */
    private static void seekToCommitted(Consumer<?, ?> consumer, MessageListenerContainer container) {
        while (container.isRunning()) {
            try {
                Map<TopicPartition, OffsetAndMetadata> committed =
                        consumer.committed(consumer.assignment(), QUERY_TIMEOUT);
                Map<TopicPartition, Long> starts = ConsumerThreadState.current().starts();
                for (TopicPartition partition : consumer.assignment()) {
                    if (committed.get(partition) != null) {
                        consumer.seek(partition, committed.get(partition));
                    } else if (starts.containsKey(partition)) {
                        consumer.seek(partition, starts.get(partition));
                    } else {
                        consumer.seekToBeginning(Set.of(partition));
                    }
                }
                return;
            } catch (RuntimeException ex) {
                logger.warn(
                        "The committed offsets of '{}' cannot be read: trying again", container.getListenerId(), ex);
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
