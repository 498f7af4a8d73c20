package dev.idempotency.internal.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.kafka.TopicCoordinates;
import dev.idempotency.internal.store.MessageIdText;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.time.temporal.Temporal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The text of keys and of their parts. Only types whose text is the same on every delivery have one. */
public final class KeyText {

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
            Optional.class);

    private KeyText() {}

    static @Nullable String of(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        if (!isKey(value.getClass())) {
            throw new InvalidMessageKeyException(
                    "it is, or contains, a %s, whose text may differ between deliveries: make it a text, a number or a UUID"
                            .formatted(value.getClass().getName()),
                    null);
        }
        if (value instanceof byte[] bytes) {
            return MessageIdText.decode(bytes);
        }
        return (value instanceof Enum<?> constant) ? constant.name() : value.toString();
    }

    /** The value, or what is in it if it is an {@code Optional}; {@code null} if there is none. */
    static @Nullable Object contentOf(@Nullable Object value) {
        return (value instanceof Optional<?> optional) ? contentOf(optional.orElse(null)) : value;
    }

    /** Whether no value of this type can be a key, whatever is in it. */
    public static boolean isNeverKey(Class<?> type) {
        boolean open = !Modifier.isFinal(type.getModifiers())
                && !Collection.class.isAssignableFrom(type)
                && !Map.class.isAssignableFrom(type);
        return !open && !isKey(ClassUtils.resolvePrimitiveIfNecessary(type));
    }

    private static boolean isKey(Class<?> type) {
        return KEYS.stream().anyMatch(known -> known.isAssignableFrom(type));
    }
}
