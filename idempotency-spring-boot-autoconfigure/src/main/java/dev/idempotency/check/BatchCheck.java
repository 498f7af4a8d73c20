package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.SpringKafkaInternals;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.support.MessageHeaderAccessor;

/** Whether the messages of a batch reach the listener in a way that lets duplicates be taken out. */
final class BatchCheck implements ListenerCheck {

    /** Of these a batch has one element per record. */
    private static final Set<String> PARALLEL = Set.of(
            KafkaHeaders.RECEIVED_KEY,
            KafkaHeaders.RECEIVED_TOPIC,
            KafkaHeaders.RECEIVED_PARTITION,
            KafkaHeaders.RECEIVED_TIMESTAMP,
            KafkaHeaders.TIMESTAMP_TYPE,
            KafkaHeaders.OFFSET,
            KafkaHeaders.NATIVE_HEADERS,
            KafkaHeaders.BATCH_CONVERTED_HEADERS,
            KafkaHeaders.RAW_DATA,
            KafkaHeaders.CONVERSION_FAILURES);

    @Override
    public void check(ProtectedListener listener, Report report) {
        Object adapter = ContainerFacts.innermostListenerOf(listener.container());
        if (adapter instanceof BatchMessagingMessageListenerAdapter<?, ?> batch) {
            if (SpringKafkaInternals.hasBatchToRecordAdapter(batch)) {
                report.add(
                        Check.BATCH_TO_RECORD,
                        "Its container is a batch container with a BatchToRecordAdapter.",
                        "Let the method take a List, or set @KafkaListener(batch = \"false\") and remove"
                                + " setBatchToRecordAdapter(…) from the container factory.");
            } else {
                checkSignature(listener, report);
            }
        }
    }

    /** It may take its messages one by one, but not as what Spring can convert a list of them to. */
    private static void checkSignature(ProtectedListener listener, Report report) {
        Parameter[] parameters = listener.method().getParameters();
        for (int i = 0; i < parameters.length; i++) {
            Class<?> type = contentType(ResolvableType.forMethodParameter(listener.method(), i));
            String what = fault(parameters[i], type);
            if (what != null) {
                report.add(
                        Check.BATCH_SIGNATURE,
                        "It is a batch listener, and takes its %s as a %s.".formatted(what, type.getSimpleName()),
                        "Let the method take a List, or set @KafkaListener(batch = \"false\").");
            }
        }
    }

    private static Class<?> contentType(ResolvableType declared) {
        Class<?> type = declared.resolve();
        ResolvableType content = (type == Optional.class || type == Message.class) ? declared.getGeneric(0) : declared;
        return Objects.requireNonNullElse(content.resolve(), Object.class);
    }

    private static @Nullable String fault(Parameter parameter, Class<?> type) {
        if (MessageHeaderAccessor.class.isAssignableFrom(type)) {
            return "headers";
        }
        Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
        if (header != null) {
            boolean converted = isOtherCollection(type) || BaseStream.class.isAssignableFrom(type);
            return (converted || (PARALLEL.contains(header.name()) && !isParallel(type))) ? "headers" : null;
        }
        boolean headers = AnnotatedElementUtils.hasAnnotation(parameter, Headers.class);
        return (!headers && isConvertedFromList(type)) ? "messages" : null;
    }

    /** Whether it is filtered with the messages. Bytes are one value, whatever they were converted from. */
    private static boolean isParallel(Class<?> type) {
        return type.isAssignableFrom(ArrayList.class) || (type.isArray() && type != byte[].class);
    }

    private static boolean isConvertedFromList(Class<?> type) {
        boolean primitives = type.isArray() && type.getComponentType().isPrimitive();
        return isOtherCollection(type)
                || primitives
                || CharSequence.class.isAssignableFrom(type)
                || BaseStream.class.isAssignableFrom(type);
    }

    private static boolean isOtherCollection(Class<?> type) {
        return Collection.class.isAssignableFrom(type) && !type.isAssignableFrom(ArrayList.class);
    }
}
