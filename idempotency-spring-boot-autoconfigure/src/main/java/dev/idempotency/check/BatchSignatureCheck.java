package dev.idempotency.check;

import dev.idempotency.listener.ProtectedListener;
import java.lang.reflect.Parameter;
import java.util.Collection;
import java.util.List;
import java.util.stream.BaseStream;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;

/** Whether a batch listener takes its messages one by one, rather than as what Spring can convert a list of them to. */
final class BatchSignatureCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        Object adapter = new ContainerFacts(listener.container()).innermostListener();
        if (!(adapter instanceof BatchMessagingMessageListenerAdapter<?, ?> batch)
                || ContainerFacts.field(BatchMessagingMessageListenerAdapter.class, "batchToRecordAdapter", batch)
                        != null) {
            return;
        }
        for (Parameter parameter : listener.method().getParameters()) {
            if (!isHeader(parameter) && isConvertedFromList(parameter.getType())) {
                findings.add(
                        Check.BATCH_SIGNATURE,
                        listener,
                        "It is a batch listener, and takes its messages as a %s."
                                .formatted(parameter.getType().getSimpleName()),
                        "Let the method take a List, or set @KafkaListener(batch = \"false\").");
            }
        }
    }

    private static boolean isHeader(Parameter parameter) {
        return AnnotatedElementUtils.hasAnnotation(parameter, Header.class)
                || AnnotatedElementUtils.hasAnnotation(parameter, Headers.class);
    }

    private static boolean isConvertedFromList(Class<?> type) {
        boolean otherCollection = Collection.class.isAssignableFrom(type)
                && !List.class.isAssignableFrom(type)
                && !type.isAssignableFrom(List.class);
        boolean primitives = type.isArray() && type.getComponentType().isPrimitive();
        return otherCollection
                || primitives
                || CharSequence.class.isAssignableFrom(type)
                || BaseStream.class.isAssignableFrom(type);
    }
}
