package dev.idempotency.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency.observe}.
 *
 * @param storeInterval how often the store is asked at most for its size and its oldest messages
 */
@ConfigurationProperties("idempotency.observe")
public record ObserveProperties(@DefaultValue("1m") Duration storeInterval) {

    public ObserveProperties {
        if (storeInterval.isNegative() || storeInterval.isZero()) {
            throw new IllegalArgumentException(
                    "idempotency.observe.store-interval must be positive, but is " + storeInterval);
        }
    }
}
