package dev.idempotency.test;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;

/**
 * Settings under {@code idempotency.test}: how the test kit delivers.
 *
 * @param deliverTwice whether protected containers deliver all that they receive a second time, after its commit
 * @param deliverAgainAfter after how many further records that happens, or when there are no more; switches it on. Default:
 *     0 with deliver-twice
 * @param randomOrder whether what is delivered again comes in random order, poll by poll
 * @param seed what that order is made of; it is logged. Default: another one each time
 * @param broker whether there is a broker; without one, containers are not started, and what is sent is captured. Default:
 *     whether one of the servers that are named accepts a connection
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
