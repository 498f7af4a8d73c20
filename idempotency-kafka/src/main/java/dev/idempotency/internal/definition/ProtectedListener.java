package dev.idempotency.internal.definition;

import dev.idempotency.IdempotentListener;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.internal.database.UniqueConstraint;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * A protected listener method behind one of its containers.
 *
 * @param bean the listener's bean, as the container calls it: a proxy
 * @param transactionManager {@code null} if there is none, which is a fault
 * @param faults why it cannot be protected: empty, or the application does not start
 * @param definition {@code null} if its faults do not allow that it is called
 */
public record ProtectedListener(
        ConsumerDescription consumer,
        IdempotentListener annotation,
        Object bean,
        Method method,
        AbstractMessageListenerContainer<?, ?> container,
        @Nullable PlatformTransactionManager transactionManager,
        TransactionAttribute transactionAttribute,
        @Nullable String keyExpression,
        @Nullable String versionExpression,
        @Nullable String lockExpression,
        @Nullable UniqueConstraint constraint,
        List<ListenerFault> faults,
        @Nullable ListenerDefinition definition) {

    public boolean isForRetries() {
        return this.container.getMainListenerId() != null;
    }

    /** The class of the bean within its proxies. */
    public Class<?> targetClass() {
        return AopUtils.getTargetClass(this.bean);
    }

    /** The method's parameters that its key needs, other than the payload or record. */
    public Set<String> keyArguments() {
        if (this.definition == null) {
            return Set.of();
        }
        Set<String> arguments =
                new TreeSet<>(this.definition.messageFactory().ids().source().variables());
        arguments.removeAll(this.definition.method().payloadNames());
        return arguments;
    }

    /** How many methods its container calls: one, or all the handlers of its class. */
    public int methodCount() {
        return IdempotentListenerAnnotations.isKafkaHandler(this.method)
                ? IdempotentListenerAnnotations.kafkaHandlers(targetClass()).size()
                : 1;
    }

    public Stream<KafkaListener> kafkaListeners() {
        return Stream.of(this.method, targetClass())
                .flatMap(element ->
                        AnnotatedElementUtils.findMergedRepeatableAnnotations(element, KafkaListener.class).stream());
    }
}
