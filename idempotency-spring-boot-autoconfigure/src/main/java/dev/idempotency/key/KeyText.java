package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The text of keys, whatever they were given as. */
public final class KeyText {

    private KeyText() {}

    /** The text of what a key expression gave. Only types whose text is the same on every delivery are taken. */
    static @Nullable String of(@Nullable Object given) {
        Object value = contentOf(given);
        if (value == null) {
            return null;
        }
        if (value instanceof byte[] bytes) {
            return HeaderDecoder.decode(bytes);
        }
        if (isStable(value)) {
            return value.toString();
        }
        throw new InvalidMessageKeyException(
                "it gave a %s, whose text may differ between deliveries: make it a text, a number or a UUID"
                        .formatted(value.getClass().getName()),
                null);
    }

    /** The text of a record's key, or {@code null} if there is none that is the same for equal keys. */
    public static @Nullable String ofRecordKey(@Nullable Object key) {
        return (key != null && isStable(key)) ? of(key) : null;
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
        return value;
    }

    /** Whether the text of a value of this type is the same on every delivery. */
    static boolean isStable(Object value) {
        return value instanceof CharSequence
                || value instanceof Number
                || value instanceof UUID
                || value instanceof Enum<?>
                || value instanceof Boolean
                || value instanceof Character
                || value instanceof byte[]
                || value instanceof java.time.temporal.Temporal
                || value instanceof java.net.URI
                || value instanceof dev.idempotency.RecordCoordinates
                || value instanceof dev.idempotency.TopicCoordinates;
    }

    /** Whether somebody has given the value a text, other than the one of its identity that all objects have. */
    static boolean hasOwnText(Object value) {
        return ClassUtils.getMethod(value.getClass(), "toString").getDeclaringClass() != Object.class;
    }

    /** Whether the value is one whose own text can be relied upon: not where that is up to a time zone or to an order. */
    static boolean isValueWithText(Object value) {
        return hasOwnText(value)
                && !(value instanceof Collection<?>)
                && !(value instanceof Map<?, ?>)
                && !(value instanceof Date)
                && !(value instanceof Calendar);
    }

    /** Whether a value's text says that there is none, as that of a {@code null} in JSON does. */
    static boolean isBlank(Object value) {
        if (value instanceof CharSequence text) {
            return isNoKey(text.toString());
        }
        if (value instanceof byte[] bytes) {
            return bytes.length == 0;
        }
        return !isStable(value) && hasOwnText(value) && isNoKey(value.toString());
    }

    /** Whether a text says that there is no key: that of {@code null} would be the same for all messages without one. */
    static boolean isNoKey(String text) {
        return text.isBlank() || text.equals("null");
    }
}
