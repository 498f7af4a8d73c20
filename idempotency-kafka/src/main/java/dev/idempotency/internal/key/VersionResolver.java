package dev.idempotency.internal.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.internal.database.EntityVersion;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.Date;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the versions of one consumer's messages. */
public record VersionResolver(String consumer, ExpressionKeySource source) {

    private static final String REMEDY =
            "Let its producer set one, or name another source in @IdempotentListener(version = …).";

    private static final Pattern WHOLE_NUMBER = Pattern.compile("-?\\d+");

    /** The version of a message; without one, an {@link InvalidMessageKeyException}: it may be older than the state. */
    public EntityVersion resolve(MessageView message) {
        return MessageIdResolver.require("version", message, this.consumer, this.source, REMEDY, () -> {
            Object value = this.source.valueOf(message);
            boolean none = value == null || (value instanceof CharSequence text && MessageId.isNoKey(text.toString()));
            return none ? null : read(value);
        });
    }

    /** Reads a whole number or a point in time, or throws an {@link InvalidMessageKeyException}. */
    static EntityVersion read(Object value) {
        try {
            if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
                return EntityVersion.of(((Number) value).longValue());
            }
            if (value instanceof BigInteger number) {
                return EntityVersion.of(number);
            }
            if (value instanceof CharSequence text) {
                return readText(text.toString());
            }
            Instant time = timeOf(value);
            if (time != null) {
                return EntityVersion.of(time);
            }
        } catch (IllegalArgumentException | DateTimeException | ArithmeticException ex) {
            throw new InvalidMessageKeyException(String.valueOf(ex.getMessage()), ex);
        }
        throw new InvalidMessageKeyException(
                ("it gave a %s, but only whole numbers and points in time compare exactly: make it a long, a BigInteger or"
                                + " an Instant")
                        .formatted(value.getClass().getName()),
                null);
    }

    private static @Nullable Instant timeOf(Object value) {
        if (value instanceof TemporalAccessor temporal) {
            return temporal.isSupported(ChronoField.INSTANT_SECONDS) ? Instant.from(temporal) : null;
        }
        // Days and times of day, which are such dates too, are no points in time, and throw.
        return (value instanceof Date date) ? date.toInstant() : null;
    }

    /** As headers have it, and JSON: the digits of a number, or a time with its offset in ISO 8601. */
    private static EntityVersion readText(String text) {
        if (WHOLE_NUMBER.matcher(text).matches() && text.length() <= 2 * EntityVersion.DIGITS) {
            return EntityVersion.of(new BigInteger(text));
        }
        try {
            return EntityVersion.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException ex) {
            throw new InvalidMessageKeyException(
                    "it gave a text that is neither a whole number nor a time with its offset, such as"
                            + " 2026-11-17T09:30:00Z",
                    null);
        }
    }
}
