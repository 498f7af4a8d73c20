package dev.idempotency.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.check.Findings.Report;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.ListenerContainers;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.BaseStream;
import org.apache.kafka.clients.consumer.Consumer;
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
            List.of(Acknowledgment.class, Consumer.class, MessageHeaders.class);

    private BatchCheck() {}

    static void check(ProtectedListener listener, Report report) {
        if (!(ListenerContainers.innermostListenerOf(listener.container())
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
            if (single || isOtherContainer(type, header) || (header ? isAccessor(type) : isText(type))) {
                report.add(
                        StartupCheck.BATCH_SIGNATURE,
                        "It is a batch listener, and takes its %s as a %s."
                                .formatted(header ? "headers" : "messages", type.getSimpleName()),
                        "Let the method take a List, or set @KafkaListener(batch = \"false\") and remove"
                                + " setBatchToRecordAdapter(…) from the container factory.");
            }
        }
    }

    private static Class<?> contentType(ResolvableType declared) {
        Class<?> type = declared.resolve();
        ResolvableType content = (type == Message.class) ? declared.getGeneric(0) : declared;
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

    /** Whether it is filtered with the messages. */
    private static boolean isParallel(Class<?> type) {
        return type.isAssignableFrom(ArrayList.class);
    }

    /** Whether Spring may have converted a list to it. */
    private static boolean isText(Class<?> type) {
        return CharSequence.class.isAssignableFrom(type);
    }

    /** Whether it may hold what belongs to several records, and is not filtered with them. */
    private static boolean isOtherContainer(Class<?> type, boolean header) {
        return type == Optional.class
                || (type.isArray() && !(header && type == byte[].class))
                || BaseStream.class.isAssignableFrom(type)
                || (Collection.class.isAssignableFrom(type) && !isParallel(type));
    }
}
