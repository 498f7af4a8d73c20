package dev.idempotency.failure;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.RecordDeserializationException.DeserializationExceptionOrigin;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.util.ReflectionUtils;

/**
 * Handles failures outside the listener. A record that cannot be read, if its deserializers could not be wrapped, is given
 * to the error handler as if it had been delivered, and skipped once it has been handled there. After any other failure,
 * everything that is not committed is redelivered.
 */
final class PollFailureHandler {

    private static final Logger logger = LoggerFactory.getLogger(PollFailureHandler.class);

    private static final Set<AckMode> COMMITTED_BEFORE_THE_NEXT_POLL = EnumSet.of(AckMode.RECORD, AckMode.BATCH);
    private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(10);

    /** Failures that follow one another so fast are slowed down, or they would become a busy loop. */
    private static final long SOON_NANOS = Duration.ofSeconds(5).toNanos();

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final CommonErrorHandler handler;
    private final ContainerSuspension suspension;

    PollFailureHandler(CommonErrorHandler handler, ContainerSuspension suspension) {
        this.handler = handler;
        this.suspension = suspension;
    }

    /** Whether an error handler handles such failures itself, which Spring Kafka's own do not. */
    static boolean areHandledBy(@Nullable CommonErrorHandler handler) {
        if (handler == null) {
            return false;
        }
        Method method = ReflectionUtils.findMethod(
                AopUtils.getTargetClass(handler),
                "handleOtherException",
                Exception.class,
                Consumer.class,
                MessageListenerContainer.class,
                boolean.class);
        return method != null && !method.getDeclaringClass().getName().startsWith("org.springframework.kafka.");
    }

    void handle(Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        boolean soon = ConsumerThreadState.current().recordPollFailure() < SOON_NANOS;
        boolean handled = false;
        try {
            if (thrown instanceof RecordDeserializationException unreadable
                    && unreadable.headers() != null
                    && !areHandledBy(this.handler)) {
                handled = handle(unreadable, consumer, container);
            } else {
                goBackToCommitted(consumer, container);
                this.handler.handleOtherException(thrown, consumer, container, batchListener);
            }
        } finally {
            if (soon && !handled) {
                pause();
            }
        }
    }

    /**
     * Has everything redelivered that is not committed: what fails around the listener, such as an observation or a listener
     * of the container's events, makes the container forget the records that it has polled. It must not go on before.
     */
    private static void goBackToCommitted(Consumer<?, ?> consumer, MessageListenerContainer container) {
        while (container.isRunning()) {
            try {
                Map<TopicPartition, OffsetAndMetadata> committed =
                        consumer.committed(consumer.assignment(), ANSWERED_WITHIN);
                consumer.assignment().forEach(partition -> seek(partition, committed.get(partition), consumer));
                return;
            } catch (RuntimeException ex) {
                logger.warn(
                        "The committed offsets of '{}' cannot be read: trying again", container.getListenerId(), ex);
                pause();
            }
        }
    }

    private static void seek(TopicPartition partition, @Nullable OffsetAndMetadata committed, Consumer<?, ?> consumer) {
        Long start = ConsumerThreadState.current().starts().get(partition);
        if (committed != null) {
            consumer.seek(partition, committed);
        } else if (start != null) {
            consumer.seek(partition, start);
        } else {
            consumer.seekToBeginning(Set.of(partition));
        }
    }

    private boolean handle(
            RecordDeserializationException unreadable, Consumer<?, ?> consumer, MessageListenerContainer container) {
        ConsumerRecord<?, ?> record = recordOf(unreadable);
        if (UnavailableService.isCauseOf(unreadable)) {
            this.suspension.suspend(unreadable, record, container);
            return true;
        }
        if (this.suspension.trySuspendUncommitted(unreadable, List.of(record), container)) {
            return true;
        }
        boolean handled = isHandled(unreadable, record, consumer, container);
        if (handled && consumer.assignment().contains(unreadable.topicPartition())) {
            skip(unreadable, consumer, container);
        }
        return handled;
    }

    private boolean isHandled(
            RecordDeserializationException unreadable,
            ConsumerRecord<?, ?> record,
            Consumer<?, ?> consumer,
            MessageListenerContainer container) {
        boolean key = unreadable.origin() == DeserializationExceptionOrigin.KEY;
        byte[] data = (byte[]) (key ? record.key() : record.value());
        Exception failure = new ListenerExecutionFailedException(
                "The record cannot be read",
                container.getGroupId(),
                new DeserializationException(
                        "failed to deserialize", (data != null) ? data : new byte[0], key, unreadable));
        if (this.handler.seeksAfterHandling()) {
            this.handler.handleRemaining(failure, List.of(record), consumer, container);
            return true;
        }
        return this.handler.handleOne(failure, record, consumer, container);
    }

    /** Commits only where all that was delivered before the record has been committed. */
    private static void skip(
            RecordDeserializationException unreadable, Consumer<?, ?> consumer, MessageListenerContainer container) {
        long next = unreadable.offset() + 1;
        consumer.seek(unreadable.topicPartition(), next);
        if (COMMITTED_BEFORE_THE_NEXT_POLL.contains(
                container.getContainerProperties().getAckMode())) {
            consumer.commitSync(Map.of(unreadable.topicPartition(), new OffsetAndMetadata(next)));
        }
    }

    private static ConsumerRecord<?, ?> recordOf(RecordDeserializationException unreadable) {
        byte[] key = bytes(unreadable.keyBuffer());
        byte[] value = bytes(unreadable.valueBuffer());
        return new ConsumerRecord<>(
                unreadable.topicPartition().topic(),
                unreadable.topicPartition().partition(),
                unreadable.offset(),
                unreadable.timestamp(),
                unreadable.timestampType(),
                (key != null) ? key.length : ConsumerRecord.NULL_SIZE,
                (value != null) ? value.length : ConsumerRecord.NULL_SIZE,
                key,
                value,
                unreadable.headers(),
                Optional.empty());
    }

    private static byte @Nullable [] bytes(@Nullable ByteBuffer buffer) {
        return (buffer != null) ? Utils.toArray(buffer) : null;
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
