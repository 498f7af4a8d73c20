package dev.idempotency.internal.definition;

import dev.idempotency.internal.result.AsynchronousResult;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.listener.adapter.ConsumerRecordMetadata;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.util.ClassUtils;

/** A listener's method: which of its parameters is what, found once from its signature, and how it is called. */
public record ListenerMethod(
        Method method,
        boolean targetSeen,
        @Nullable ReplyStore replies,
        List<String> parameterNames,
        List<Integer> payloads) {

    public static final int NONE = -1;

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private static final List<Class<?>> NO_PAYLOADS = List.of(
            Acknowledgment.class,
            Consumer.class,
            ConsumerRecordMetadata.class,
            MessageHeaders.class,
            MessageHeaderAccessor.class);

    /** Types that message converters convert: such a value need not be the payload. */
    private static final List<Class<?>> CONVERTED = List.of(String.class, byte[].class, Bytes.class, Object.class);

    public ListenerMethod(Method method, boolean targetSeen, @Nullable ReplyStore replies) {
        this(method, targetSeen, replies, namesOf(method), payloadsIn(method.getParameters()));
    }

    private static List<String> namesOf(Method method) {
        String[] names = NAMES.getParameterNames(method);
        return (names != null) ? Arrays.asList(names) : List.of();
    }

    /** The parameter with {@code @Payload}, or else all that are nothing else. */
    private static List<Integer> payloadsIn(Parameter[] parameters) {
        List<Integer> candidates = new ArrayList<>();
        for (int i = 0; i < parameters.length; i++) {
            if (AnnotatedElementUtils.hasAnnotation(parameters[i], Payload.class)) {
                return List.of(i);
            }
            if (!isHeader(parameters[i]) && !isInfrastructure(parameters[i].getType())) {
                candidates.add(i);
            }
        }
        return candidates;
    }

    public static boolean isHeader(Parameter parameter) {
        return AnnotatedElementUtils.hasAnnotation(parameter, Header.class)
                || AnnotatedElementUtils.hasAnnotation(parameter, Headers.class);
    }

    public int payloadIndex() {
        return this.payloads.isEmpty() ? NONE : this.payloads.get(0);
    }

    /** Whether a parameter of this type is never the payload. */
    public static boolean isInfrastructure(Class<?> type) {
        return NO_PAYLOADS.stream().anyMatch(noPayload -> noPayload.isAssignableFrom(type));
    }

    /** Returns the result for a call that is skipped. */
    @Nullable
    public Object resultWhenSkipped() {
        Class<?> type = this.method.getReturnType();
        return (type.isPrimitive() && type != void.class) ? Array.get(Array.newInstance(type, 1), 0) : null;
    }

    /** Whether a result turns out to be one that is completed later; where the method says so, start-up checks do. */
    public boolean isCompletedLater(Object result) {
        return AsynchronousResult.isOf(result.getClass()) && !AsynchronousResult.isOf(this.method.getReturnType());
    }

    /** Whether the compiler kept the names of its parameters. */
    boolean hasParameterNames() {
        return this.parameterNames.size() == this.method.getParameterCount();
    }

    /** Whether a record's value is the payload, without conversion, so that a key can be taken from either. */
    public boolean isPayload(@Nullable Object value) {
        return value == null
                || takesRecord()
                || (mayTakeValue() && payloadType().isInstance(value));
    }

    /** Whether it takes the record itself, or no payload at all. */
    public boolean takesRecord() {
        return payloadType() == ConsumerRecord.class;
    }

    private Class<?> payloadType() {
        return (payloadIndex() == NONE)
                ? ConsumerRecord.class
                : ClassUtils.resolvePrimitiveIfNecessary(this.method.getParameterTypes()[payloadIndex()]);
    }

    private boolean mayTakeValue() {
        return !CONVERTED.contains(payloadType()) && !payloadType().isAssignableFrom(GenericMessage.class);
    }

    /** The variables of a key that can be taken from the record's value, or from the record. */
    Set<String> payloadVariables() {
        return (takesRecord() || mayTakeValue()) ? payloadNames() : Set.of();
    }

    /** The variables for the payload: its own name is one, unless that is a {@code Message}. */
    public Set<String> payloadNames() {
        ResolvableType type = payload();
        boolean named = type != null
                && payloadIndex() < this.parameterNames.size()
                && Stream.of(type, type.asCollection().getGeneric())
                        .noneMatch(each -> Message.class.isAssignableFrom(each.toClass()));
        return new HashSet<>(named ? List.of("payload", this.parameterNames.get(payloadIndex())) : List.of("payload"));
    }

    /** The parameter for the payload, or {@code null} if there is none. */
    public @Nullable ResolvableType payload() {
        return (payloadIndex() != NONE) ? ResolvableType.forMethodParameter(this.method, payloadIndex()) : null;
    }

    @Override
    public String toString() {
        return this.method.getDeclaringClass().getSimpleName() + "." + this.method.getName();
    }
}
