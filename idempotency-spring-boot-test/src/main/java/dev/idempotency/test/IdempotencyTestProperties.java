package dev.idempotency.test;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;

/**
 * Settings under {@code idempotency.test}: how the test kit delivers.
 *
 * @param deliverTwice whether protected containers redeliver every record once, after its commit
 * @param deliverAgainAfter the number of further records after which that happens, or when there are no more; switches it
 *     on. Default: 0 with deliver-twice
 * @param randomOrder whether redeliveries are in random order, poll by poll
 * @param seed the seed of that order, which is logged. Default: a new one for each run
 * @param broker whether there is a broker; without one, containers are not started, and sent records are captured. Default:
 *     whether one of the configured servers accepts a connection
 * @param timeout how long a delivery to a listener may take, retries included
 * @param allowOutsideTests whether the application may start without a test context
 */
@ConfigurationProperties("idempotency.test")
public record IdempotencyTestProperties(
        @DefaultValue("false") boolean deliverTwice,
        @Nullable Integer deliverAgainAfter,
        @DefaultValue("false") boolean randomOrder,
        @Nullable Long seed,
        @Nullable Boolean broker,
        @DefaultValue("30s") Duration timeout,
        @DefaultValue("false") boolean allowOutsideTests) {

    public IdempotencyTestProperties {
        Assert.isTrue(
                deliverAgainAfter == null || deliverAgainAfter >= 0,
                () -> "idempotency.test.deliver-again-after must not be negative, but is " + deliverAgainAfter);
    }

    boolean deliversAgain() {
        return this.deliverTwice || this.deliverAgainAfter != null;
    }
}
