package dev.idempotency.internal.database;

import dev.idempotency.DeduplicationStrategy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Instant;
import org.springframework.util.StringUtils;

/**
 * The version of an entity's state, for {@link DeduplicationStrategy#VERSION}: a whole number or a point in time, both of which compare
 * exactly. One of each does not compare at all.
 *
 * @param kind which of the two it is
 * @param value the number, or the seconds since the epoch, with {@value #SCALE} digits after the point and at most
 *     {@value #DIGITS} before it
 */
public record EntityVersion(Kind kind, BigDecimal value) implements Comparable<EntityVersion> {

    /** Digits before the point, more than any {@code long} or {@link Instant} has. */
    public static final int DIGITS = 29;

    /** Digits after the point: nanoseconds. */
    public static final int SCALE = 9;

    /** A whole number, or a point in time. */
    public enum Kind {
        NUMBER,
        TIME
    }

    public EntityVersion {
        value = value.setScale(SCALE, RoundingMode.UNNECESSARY);
        if (value.precision() > DIGITS + SCALE) {
            throw new IllegalArgumentException("A version must have at most %d digits, but this one has %d: %s"
                    .formatted(
                            DIGITS,
                            value.precision() - SCALE,
                            StringUtils.truncate(value.toBigInteger().toString())));
        }
    }

    /** The version with a number of at most {@value #DIGITS} digits. */
    public static EntityVersion of(BigInteger number) {
        return new EntityVersion(Kind.NUMBER, new BigDecimal(number));
    }

    /** The version with a number. */
    public static EntityVersion of(long number) {
        return new EntityVersion(Kind.NUMBER, BigDecimal.valueOf(number));
    }

    /** The version of a point in time, to the nanosecond. */
    public static EntityVersion of(Instant time) {
        return new EntityVersion(
                Kind.TIME, BigDecimal.valueOf(time.getEpochSecond()).add(BigDecimal.valueOf(time.getNano(), SCALE)));
    }

    @Override
    public int compareTo(EntityVersion other) {
        if (this.kind != other.kind) {
            throw new IllegalArgumentException(
                    "A number and a point in time do not compare: %s and %s".formatted(this, other));
        }
        return this.value.compareTo(other.value);
    }

    /** The number, or the time in ISO 8601. */
    @Override
    public String toString() {
        BigInteger whole = this.value.setScale(0, RoundingMode.FLOOR).toBigInteger();
        if (this.kind == Kind.NUMBER) {
            return whole.toString();
        }
        long nanos =
                this.value.subtract(new BigDecimal(whole)).movePointRight(SCALE).longValueExact();
        return Instant.ofEpochSecond(whole.longValueExact(), nanos).toString();
    }
}
