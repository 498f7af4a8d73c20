package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.database.RetentionLimit;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/** Works out how long the messages of consumers are remembered. */
final class RetentionResolver {

    private final Duration byDefault;
    private final Map<String, Duration> ofConsumers = new ConcurrentHashMap<>();

    RetentionResolver(Duration byDefault) {
        this.byDefault = byDefault;
    }

    /** Listeners of one consumer share their rows: the shorter retention would forget the other's messages. */
    Duration resolve(String text, String consumer) {
        Duration retention = StringUtils.hasText(text) ? bounded(parse(text)) : this.byDefault;
        Duration others = this.ofConsumers.putIfAbsent(consumer, retention);
        if (others != null && !others.equals(retention)) {
            throw ListenerFault.found(
                    Check.RETENTION_VALUE,
                    "The consumer '%s' is to remember its messages for %s and for %s."
                            .formatted(consumer, others, retention),
                    "State one @IdempotentListener(retention = …) for all its methods.");
        }
        return retention;
    }

    private static Duration parse(String retention) {
        try {
            return DurationFormatterUtils.detectAndParse(retention);
        } catch (IllegalArgumentException | ArithmeticException ex) {
            throw ListenerFault.found(
                    Check.RETENTION_VALUE,
                    "The retention '%s' is no duration.".formatted(retention),
                    "Write @IdempotentListener(retention = \"30d\"), or leave it to idempotency.retention.");
        }
    }

    private static Duration bounded(Duration retention) {
        try {
            return RetentionLimit.require("@IdempotentListener(retention = …)", retention);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.RETENTION_VALUE,
                    ex.getMessage() + ".",
                    "Write @IdempotentListener(retention = \"3650d\"), or less.");
        }
    }
}
