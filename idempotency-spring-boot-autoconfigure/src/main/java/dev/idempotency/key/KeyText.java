package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicCoordinates;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.time.temporal.Temporal;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.util.ClassUtils;

/** The text of keys, whatever they were given as. */
public final class KeyText {

    /** Whether somebody has given a type a text, other than the one of its identity that all objects have. */
    private static final ClassValue<Boolean> OWN_TEXT = new ClassValue<>() {

        @Override
        protected Boolean computeValue(Class<?> type) {
            return ClassUtils.getMethod(type, "toString").getDeclaringClass() != Object.class;
        }
    };

    /** Whether the text of a type is the same on every delivery. */
    private static final ClassValue<Boolean> STABLE = new ClassValue<>() {

        @Override
        protected Boolean computeValue(Class<?> type) {
            return type == byte[].class || (isAny(KEYS, type) && OWN_TEXT.get(type));
        }
    };

    /** As {@link Object#toString} gives it, of an array or of a class in a package; no address has such an end. */
    private static final Pattern IDENTITY = Pattern.compile("\\[+(?:[BCDFIJSZ]|L[\\w.$]+;)@[0-9a-f]{1,8}\\b"
            + "|\\b[\\w$]+(?:\\.[\\w$]+)*\\.[A-Z][\\w$]*@[0-9a-f]{1,8}(?![\\w.-])");

    private static final Pattern NULL_WITHIN =
            Pattern.compile("null\\b|\\bnull(?![a-z])|\\bOptional(?:Int|Long|Double)?\\.empty\\b");

    private static final List<Class<?>> KEYS = List.of(
            CharSequence.class,
            Number.class,
            UUID.class,
            Enum.class,
            Boolean.class,
            Character.class,
            byte[].class,
            Temporal.class,
            URI.class,
            RecordCoordinates.class,
            TopicCoordinates.class,
            Optional.class,
            OptionalLong.class,
            OptionalInt.class,
            OptionalDouble.class);

    /** Values that carry a message, with what the consumer or a retry has added, or whose text is not always the same. */
    private static final List<Class<?>> NO_PARTS = List.of(
            ConsumerRecord.class,
            Headers.class,
            Message.class,
            MessageHeaders.class,
            Acknowledgment.class,
            Consumer.class,
            Collection.class,
            Map.class,
            Date.class,
            Calendar.class);

    private KeyText() {}

    /** The text of what a key expression gave. Only types whose text is the same on every delivery are taken. */
    static @Nullable String of(@Nullable Object value) {
        if (value != null && !STABLE.get(value.getClass())) {
            throw unstable(value);
        }
        return (value != null) ? textOf(value) : null;
    }

    /** The text of an operand of {@code +}, which may be any value with a text, or {@code null} if it is absent. */
    static @Nullable String ofPart(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        String text = textOf(value);
        if (!STABLE.get(value.getClass())) {
            if (!isValueWithText(value) || IDENTITY.matcher(text).find()) {
                throw unstable(value);
            }
            if (NULL_WITHIN.matcher(text).find()) {
                return null;
            }
        }
        return MessageId.isNoKey(text) ? null : text;
    }

    private static String textOf(Object value) {
        if (value instanceof byte[] bytes) {
            return HeaderDecoder.decode(bytes);
        }
        return (value instanceof Enum<?> constant) ? constant.name() : value.toString();
    }

    private static InvalidMessageKeyException unstable(Object value) {
        return new InvalidMessageKeyException(
                "it is, or contains, a %s, whose text may differ between deliveries: make it a text, a number or a UUID"
                        .formatted(value.getClass().getName()),
                null);
    }

    /** The value, or what is in it if it is an {@code Optional}; {@code null} if there is none. */
    static @Nullable Object contentOf(@Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return contentOf(optional.orElse(null));
        }
        if (value instanceof OptionalLong optional) {
            return optional.isPresent() ? optional.getAsLong() : null;
        }
        if (value instanceof OptionalInt optional) {
            return optional.isPresent() ? optional.getAsInt() : null;
        }
        if (value instanceof OptionalDouble optional) {
            return optional.isPresent() ? optional.getAsDouble() : null;
        }
        return value;
    }

    /** Whether no value of this type can be a key, whatever is in it. */
    public static boolean isNeverKey(Class<?> type) {
        boolean open = !Modifier.isFinal(type.getModifiers())
                && !Collection.class.isAssignableFrom(type)
                && !Map.class.isAssignableFrom(type);
        return !open && !isAny(KEYS, ClassUtils.resolvePrimitiveIfNecessary(type));
    }

    /** Whether the value's own text can be relied upon: not if it depends on a time zone or an order, or on the delivery. */
    private static boolean isValueWithText(Object value) {
        return OWN_TEXT.get(value.getClass()) && !isAny(NO_PARTS, value.getClass());
    }

    private static boolean isAny(List<Class<?>> types, Class<?> type) {
        return types.stream().anyMatch(known -> known.isAssignableFrom(type));
    }
}
