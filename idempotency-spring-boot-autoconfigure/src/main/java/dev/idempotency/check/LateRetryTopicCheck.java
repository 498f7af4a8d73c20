package dev.idempotency.check;

import dev.idempotency.definition.ProtectedListener;
import java.util.stream.Stream;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.RetryableTopic;

/** Whether a listener that is created late has retry topics. */
final class LateRetryTopicCheck implements ListenerCheck {

    @Override
    public void check(ProtectedListener listener, Findings findings) {
        boolean annotated = Stream.of(listener.method(), AopUtils.getTargetClass(listener.bean()))
                .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, RetryableTopic.class));
        if (annotated || listener.container().getMainListenerId() != null) {
            findings.add(
                    Check.LATE_RETRY_TOPIC,
                    listener,
                    "It has retry topics, and its bean is created after the application has started.",
                    "Let the bean be created at start-up: remove @Lazy, or the prototype scope, from it.");
        }
    }
}
