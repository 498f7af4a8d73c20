package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicUnknownException;
import dev.idempotency.Version;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.time.temporal.TemporalAccessor;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Finds the versions of one consumer's messages.
 *
 * @param consumer the consumer
 * @param source the expression for the version
 */
public record VersionResolver(String consumer, ExpressionKeySource source) {

    /** Final types that {@link VersionReader} reads, or that hold one. */
    private static final List<Class<?>> VERSIONS = List.of(
            Long.class,
            Integer.class,
            Short.class,
            Byte.class,
            CharSequence.class,
            Instant.class,
            OffsetDateTime.class,
            ZonedDateTime.class,
            Optional.class,
            OptionalLong.class,
            OptionalInt.class);

    /**
     * The version of a message, which it must have: without one there is no saying whether it is newer, whatever becomes of
     * messages without a key.
     *
     * @throws MissingMessageKeyException if it has none
     * @throws InvalidMessageKeyException if it has one that does not compare exactly
     */
    public Version resolve(MessageView message) {
        Object value;
        try {
            value = this.source.valueOf(message);
            if (value != null && !(value instanceof CharSequence text && MessageId.isNoKey(text.toString()))) {
                return VersionReader.read(value);
            }
        } catch (TopicUnknownException ex) {
            throw ex;
        } catch (InvalidMessageKeyException ex) {
            MessageIdResolver.requireSurvivable(ex);
            throw invalid(message, String.valueOf(ex.getMessage()), ex.getCause());
        } catch (Throwable ex) {
            MessageIdResolver.requireSurvivable(ex);
            throw invalid(message, "it cannot be found, as that failed with " + ex, ex);
        }
        throw new MissingMessageKeyException(
                ("The message %s has no version for consumer '%s': %s gave none. Let its producer set one, or name another"
                                + " source in @IdempotentListener(version = …).")
                        .formatted(RecordCoordinates.of(message.record()), this.consumer, this.source),
                null);
    }

    /** Returns whether no value of this type can be a version, whatever is in it. */
    public static boolean isNeverVersion(Class<?> type) {
        boolean open = !Modifier.isFinal(type.getModifiers()) && type != BigDecimal.class;
        boolean temporalOfOthers = TemporalAccessor.class.isAssignableFrom(type)
                && !type.getPackageName().equals("java.time");
        Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(type);
        return !open && !temporalOfOthers && VERSIONS.stream().noneMatch(version -> version.isAssignableFrom(boxed));
    }

    /** The variables that it needs of the converted message. */
    public Set<String> variables() {
        return this.source.variables();
    }

    private InvalidMessageKeyException invalid(MessageView message, String why, @Nullable Throwable cause) {
        return new InvalidMessageKeyException(
                "The version of the message %s for consumer '%s', from %s, cannot be used: %s."
                        .formatted(
                                RecordCoordinates.of(message.record()),
                                this.consumer,
                                this.source,
                                StringUtils.truncate(why, MessageIdResolver.LONGEST_REASON)),
                cause);
    }
}
