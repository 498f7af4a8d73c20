package dev.idempotency.internal.listener;

import dev.idempotency.internal.kafka.SpringKafkaInternals;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.support.SendResult;
import org.springframework.messaging.Message;

/**
 * Sends the replies of a listener, and has its {@link Delivery} wait for those that are kept: Spring Kafka would commit the offset
 * before the broker has a reply, and ignore what sending it throws. Sends none for a duplicate whose reply is not kept, as a
 * method that returns a primitive must return something.
 */
final class AwaitedReplyTemplate extends KafkaTemplate<Object, Object> {

    private final KafkaTemplate<Object, Object> delegate;

    private AwaitedReplyTemplate(KafkaTemplate<Object, Object> delegate) {
        super(() -> {
            throw new UnsupportedOperationException();
        });
        this.delegate = delegate;
    }

    static void install(@Nullable Object listener) {
        if (listener instanceof MessagingMessageListenerAdapter<?, ?> adapter) {
            KafkaTemplate<Object, Object> template = SpringKafkaInternals.replyTemplateOf(adapter);
            if (template != null) {
                adapter.setReplyTemplate(new AwaitedReplyTemplate(template));
            }
        }
    }

    @Override
    public CompletableFuture<SendResult<Object, Object>> send(String topic, @Nullable Object data) {
        return send(() -> this.delegate.send(topic, data));
    }

    @Override
    public CompletableFuture<SendResult<Object, Object>> send(Message<?> message) {
        return send(() -> this.delegate.send(message));
    }

    private static CompletableFuture<SendResult<Object, Object>> send(
            Supplier<CompletableFuture<SendResult<Object, Object>>> sending) {
        Delivery delivery = Delivery.current();
        if (delivery == null) {
            return sending.get();
        }
        if (delivery.isSkipped()) {
            return new CompletableFuture<>();
        }
        CompletableFuture<SendResult<Object, Object>> sent;
        try {
            sent = sending.get();
        } catch (Throwable ex) {
            sent = CompletableFuture.failedFuture(ex);
        }
        delivery.sending(sent);
        return sent;
    }
}
