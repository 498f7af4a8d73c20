package dev.idempotency.internal.failure;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.util.Assert;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Pauses that double, with jitter: each is up to a quarter longer or shorter, so that consumers do not retry in step.
 * Something else is done after the attempts.
 */
public record BackOffSettings(Duration initialInterval, Duration maxInterval, int maxAttempts) {

    private static final double MULTIPLIER = 2;
    private static final int JITTER_DIVISOR = 4;
    private static final Duration LONGEST = Duration.ofDays(365);

    public BackOffSettings {
        Assert.isTrue(
                initialInterval.compareTo(Duration.ofMillis(1)) >= 0,
                () -> "The initial interval must be a millisecond or more, but is " + initialInterval);
        Assert.isTrue(
                maxInterval.compareTo(initialInterval) >= 0,
                () -> "The longest interval (%s) must not be shorter than the initial one (%s)"
                        .formatted(maxInterval, initialInterval));
        Assert.isTrue(
                maxInterval.compareTo(LONGEST) <= 0, () -> "The longest interval must be at most %d days, but is %s"
                        .formatted(LONGEST.toDays(), maxInterval));
        Assert.isTrue(maxAttempts >= 1, () -> "The number of attempts must be 1 or more, but is " + maxAttempts);
    }

    /** The pause after so many attempts have failed in a row. */
    Duration pauseAfter(int attempts) {
        double millis = this.initialInterval.toMillis() * Math.pow(MULTIPLIER, attempts - 1);
        long capped = (long) Math.min(millis, this.maxInterval.toMillis());
        long jitter = capped / JITTER_DIVISOR;
        long pause = capped + ThreadLocalRandom.current().nextLong(-jitter, jitter + 1);
        return Duration.ofMillis(Math.min(pause, this.maxInterval.toMillis()));
    }

    /** The same for Spring Kafka, which ends after the attempts. */
    ExponentialBackOff toBackOff() {
        ExponentialBackOff backOff = new ExponentialBackOff(this.initialInterval.toMillis(), MULTIPLIER);
        backOff.setMaxInterval(this.maxInterval.toMillis());
        backOff.setJitter(this.initialInterval.toMillis() / JITTER_DIVISOR);
        backOff.setMaxAttempts(this.maxAttempts - 1L);
        return backOff;
    }
}
