package dev.idempotency.autoconfigure;

import dev.idempotency.Check;
import dev.idempotency.check.CheckPolicy;
import dev.idempotency.database.RetentionLimit;
import java.time.Duration;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings for what is verified at start-up.
 *
 * @param checks what happens to findings
 * @param relaxedChecks checks whose findings are lowered by one level: what would keep the application from starting is
 *     logged as a warning, and what would be logged is left out
 * @param brokerCheckTimeout how long to wait for the broker's answers about topics, without delaying the start; zero to
 *     ask nothing
 */
@ConfigurationProperties("idempotency")
public record CheckProperties(
        @DefaultValue("fail") CheckPolicy.Mode checks,
        @DefaultValue Set<Check> relaxedChecks,
        @DefaultValue("10s") Duration brokerCheckTimeout) {

    public CheckProperties {
        if (brokerCheckTimeout.isNegative()) {
            throw new IllegalArgumentException(
                    "idempotency.broker-check-timeout must not be negative, but is " + brokerCheckTimeout);
        }
        RetentionLimit.require("idempotency.broker-check-timeout", brokerCheckTimeout);
    }

    CheckPolicy policy() {
        return new CheckPolicy(this.checks, this.relaxedChecks);
    }
}
