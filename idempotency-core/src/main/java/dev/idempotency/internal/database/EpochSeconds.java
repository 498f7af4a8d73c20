package dev.idempotency.internal.database;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Instants as they go to and come from the database: as seconds since the epoch with six digits after the point, which no
 * time zone changes.
 */
public final class EpochSeconds {

    private static final int MICROS = 6;

    private EpochSeconds() {}

    /** The instant as the parameter of {@link Dialect#timeOfSeconds()}. */
    public static BigDecimal toDecimal(Instant instant) {
        return BigDecimal.valueOf(ChronoUnit.MICROS.between(Instant.EPOCH, instant), MICROS);
    }

    /** The instant that {@link Dialect#secondsOf} gives. */
    public static Instant toInstant(BigDecimal seconds) {
        long micros = seconds.movePointRight(MICROS).longValue();
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
