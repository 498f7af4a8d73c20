package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.check.Findings.Report;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.ContainerFacts;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.BaseStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.support.MessageHeaderAccessor;

/** Checks that a batch listener takes its messages in a form from which duplicates can be removed. */
final class BatchCheck {

    private static final List<Class<?>> NO_PAYLOADS =
            List.of(Acknowledgment.class, Consumer.class, ConsumerRecords.class, MessageHeaders.class);

    private BatchCheck() {}

    static void check(ProtectedListener listener, Report report) {
        if (!(ContainerFacts.innermostListenerOf(listener.container())
                instanceof BatchMessagingMessageListenerAdapter)) {
            return;
        }
        Parameter[] parameters = listener.method().getParameters();
        boolean payloadSeen = false;
        for (int i = 0; i < parameters.length; i++) {
            Class<?> type = contentType(ResolvableType.forMethodParameter(listener.method(), i));
            boolean header = isHeader(parameters[i], type);
            boolean payload = !header && NO_PAYLOADS.stream().noneMatch(other -> other.isAssignableFrom(type));
            // Further parameters may come from an argument resolver of the application's own.
            boolean single = payload && !payloadSeen && !isParallel(type);
            payloadSeen |= payload;
            if (single || isOtherCollection(type) || (header ? isAccessor(type) : isConverted(type))) {
                report.add(
                        Check.BATCH_SIGNATURE,
                        "It is a batch listener, and takes its %s as a %s."
                                .formatted(header ? "headers" : "messages", type.getSimpleName()),
                        "Let the method take a List, or set @KafkaListener(batch = \"false\") and remove"
                                + " setBatchToRecordAdapter(…) from the container factory.");
            }
        }
    }

    private static Class<?> contentType(ResolvableType declared) {
        Class<?> type = declared.resolve();
        ResolvableType content = (type == Optional.class || type == Message.class) ? declared.getGeneric(0) : declared;
        return Objects.requireNonNullElse(content.resolve(), Object.class);
    }

    private static boolean isHeader(Parameter parameter, Class<?> type) {
        return isAccessor(type)
                || AnnotatedElementUtils.hasAnnotation(parameter, Header.class)
                || AnnotatedElementUtils.hasAnnotation(parameter, Headers.class);
    }

    private static boolean isAccessor(Class<?> type) {
        return MessageHeaderAccessor.class.isAssignableFrom(type);
    }

    /** Whether it is filtered with the messages. Bytes are one value, whatever they were converted from. */
    private static boolean isParallel(Class<?> type) {
        return type.isAssignableFrom(ArrayList.class) || (type.isArray() && type != byte[].class);
    }

    /** Whether Spring may have converted a list to it. */
    private static boolean isConverted(Class<?> type) {
        return (type.isArray() && type.getComponentType().isPrimitive()) || CharSequence.class.isAssignableFrom(type);
    }

    private static boolean isOtherCollection(Class<?> type) {
        return BaseStream.class.isAssignableFrom(type)
                || (Collection.class.isAssignableFrom(type) && !type.isAssignableFrom(ArrayList.class));
    }
}
