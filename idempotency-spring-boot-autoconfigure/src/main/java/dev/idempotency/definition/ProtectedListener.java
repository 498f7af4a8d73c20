package dev.idempotency.definition;

import dev.idempotency.IdempotentListener;
import dev.idempotency.database.UniqueConstraint;
import dev.idempotency.observe.ConsumerDescription;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.messaging.Message;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * A protected listener method behind one of its containers.
 *
 * @param bean the listener's bean, as the container calls it: a proxy
 * @param transactionManager opens its transactions; {@code null} if there is none, which is a fault
 * @param keyExpression the expression for its keys, or {@code null} if they come from elsewhere
 * @param versionExpression the expression for their versions, or {@code null} if they have none
 * @param constraint the constraint that its messages are recognised by, or {@code null} if they are not
 * @param faults why it cannot be protected: empty, or the application does not start
 * @param definition for those who call it; {@code null} if its faults do not allow that
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
        @Nullable UniqueConstraint constraint,
        List<ListenerFault> faults,
        @Nullable ListenerDefinition definition) {

    private static final Set<String> OF_MESSAGE = Set.of("record", "payload", "headers", "coordinates");

    public ProtectedListener {
        faults = List.copyOf(faults);
    }

    /** The listener with more faults, which do not allow it to be called. */
    ProtectedListener refuse(List<ListenerFault> more) {
        return more.isEmpty()
                ? this
                : new ProtectedListener(
                        this.consumer,
                        this.annotation,
                        this.bean,
                        this.method,
                        this.container,
                        this.transactionManager,
                        this.transactionAttribute,
                        this.keyExpression,
                        this.versionExpression,
                        this.constraint,
                        Stream.concat(this.faults.stream(), more.stream()).toList(),
                        null);
    }

    /** Whether its container reads a retry topic. */
    public boolean isForRetries() {
        return this.container.getMainListenerId() != null;
    }

    /** The parameter for the payload, or {@code null} if there is none. */
    public @Nullable ResolvableType payload() {
        return new ListenerMethod(this.method, false, null).payload();
    }

    /** The class of the bean within its proxies. */
    public Class<?> targetClass() {
        return AopUtils.getTargetClass(this.bean);
    }

    /** The method's parameters that its key expression names, other than the payload or record. */
    public List<String> keyArguments() {
        ListenerMethod called = new ListenerMethod(this.method, false, null);
        List<String> names = called.parameterNames();
        return IntStream.range(0, names.size())
                .filter(index -> index != called.payloadIndex() || isMessage(index))
                .mapToObj(names::get)
                .filter(name -> !OF_MESSAGE.contains(name) && this.keyExpression != null)
                .filter(name -> Pattern.compile("#" + Pattern.quote(name) + "\\b")
                        .matcher(this.keyExpression)
                        .find())
                .toList();
    }

    private boolean isMessage(int index) {
        ResolvableType type = ResolvableType.forMethodParameter(this.method, index);
        return Stream.of(type, type.asCollection().getGeneric())
                .anyMatch(each -> Message.class.isAssignableFrom(each.toClass()));
    }

    /** How many methods its container calls: one, or all the handlers of its class. */
    public int methodCount() {
        return IdempotentListenerAnnotations.isKafkaHandler(this.method)
                ? MethodIntrospector.selectMethods(targetClass(), IdempotentListenerAnnotations::isKafkaHandler)
                        .size()
                : 1;
    }

    /** The annotations of the method and of its class. */
    public Stream<KafkaListener> kafkaListeners() {
        return Stream.of(this.method, targetClass())
                .flatMap(element ->
                        AnnotatedElementUtils.findMergedRepeatableAnnotations(element, KafkaListener.class).stream());
    }
}
