package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.definition.ProtectedListener;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.kafka.ContainerFacts;
import java.util.stream.Stream;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.util.StringUtils;

/** Whether a message that fails is kept. */
final class ErrorHandlingCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        ErrorHandlerFacts facts = new ErrorHandlerFacts(ErrorHandlerInstaller.handlerOf(listener.container()));
        if (ContainerFacts.deliversBatches(listener.container()) && facts.ignoresBatches()) {
            findings.add(
                    Check.BATCH_ERROR_HANDLER,
                    listener,
                    "Its container delivers batches, and its error handler does not implement handleBatch.",
                    "Use a DefaultErrorHandler, or implement handleBatch.");
        }
        if (facts.dropsMessages()) {
            findings.add(
                    Check.DROPPED_FAILURES,
                    listener,
                    "Its container's error handler has no recoverer.",
                    "Write new DefaultErrorHandler(new DeadLetterPublishingRecoverer(kafkaTemplate), backOff), which"
                            + " sends it to a dead-letter topic.");
        }
        boolean handled = Stream.of(listener.method(), AopUtils.getTargetClass(listener.bean()))
                .flatMap(element ->
                        AnnotatedElementUtils.findMergedRepeatableAnnotations(element, KafkaListener.class).stream())
                .anyMatch(annotation -> StringUtils.hasText(annotation.errorHandler()));
        if (handled) {
            findings.add(
                    Check.LISTENER_ERROR_HANDLER,
                    listener,
                    "It has a KafkaListenerErrorHandler.",
                    "Remove @KafkaListener(errorHandler = …) and let the container's DefaultErrorHandler retry and"
                            + " recover; if it always throws, relax this check.");
        }
    }
}
