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
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.RecordDeserializationException.DeserializationExceptionOrigin;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.serializer.DeserializationException;
import org.springframework.util.ReflectionUtils;

/**
 * Handles what fails while a consumer polls, where no record is delivered: above all one that cannot be read, if its
 * deserializers could not be wrapped. It is given to the error handler as if it had been delivered, and skipped once it
 * has been handled there. After any other failure, what was polled and not delivered comes again.
 */
final class PollFailureHandler {

    private static final Logger logger = LoggerFactory.getLogger(PollFailureHandler.class);

    private static final String SPRING_KAFKA = "org.springframework.kafka.";
    private static final Set<AckMode> COMMITTED_BEFORE_THE_NEXT_POLL = EnumSet.of(AckMode.RECORD, AckMode.BATCH);
    private static final long SOON_NANOS = Duration.ofSeconds(5).toNanos();
    private static final Duration THROTTLE = Duration.ofSeconds(1);

    private final CommonErrorHandler handler;
    private final ContainerSuspension suspension;
    private final ThreadLocal<@Nullable Long> last = new ThreadLocal<>();

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
        return method != null && !method.getDeclaringClass().getName().startsWith(SPRING_KAFKA);
    }

    void handle(Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        boolean readable = !(thrown instanceof RecordDeserializationException unreadable)
                || unreadable.headers() == null
                || areHandledBy(this.handler);
        try {
            if (readable) {
                goBack(thrown, consumer, container);
                throttle();
                this.handler.handleOtherException(thrown, consumer, container, batchListener);
            } else {
                handle((RecordDeserializationException) thrown, consumer, container);
            }
        } finally {
            this.last.set(System.nanoTime());
        }
    }

    private static void goBack(Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container) {
        if (PollPositions.goBack(consumer)) {
            logger.error(
                    "Something around the listener '{}' has failed, rather than the listener: an observation, whoever hears of"
                            + " the container's events, or the like. The records that it was not called with come again."
                            + " Mend what failed.",
                    container.getListenerId(),
                    thrown);
        }
    }

    private void handle(
            RecordDeserializationException unreadable, Consumer<?, ?> consumer, MessageListenerContainer container) {
        ConsumerRecord<?, ?> record = recordOf(unreadable);
        if (UnavailableService.isCauseOf(unreadable)) {
            this.suspension.suspend(unreadable, record, container);
            return;
        }
        if (this.suspension.trySuspendUnsettled(unreadable, List.of(record), container)) {
            return;
        }
        boolean handled = false;
        try {
            handled = isHandled(unreadable, record, consumer, container);
        } finally {
            if (!handled) {
                throttle();
            }
        }
        if (handled && consumer.assignment().contains(unreadable.topicPartition())) {
            skip(unreadable, consumer, container);
        }
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
        ContainerProperties properties = container.getContainerProperties();
        if (COMMITTED_BEFORE_THE_NEXT_POLL.contains(properties.getAckMode()) && !properties.isAsyncAcks()) {
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

    /** One failure costs nothing; one after the other must not become a loop that does nothing else. */
    private void throttle() {
        Long before = this.last.get();
        if (before == null || System.nanoTime() - before > SOON_NANOS) {
            return;
        }
        try {
            Thread.sleep(THROTTLE.toMillis());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
