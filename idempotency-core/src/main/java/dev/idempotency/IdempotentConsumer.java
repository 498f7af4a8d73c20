package dev.idempotency;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * A consumer whose ids are claimed by code, with {@link IdempotentOperations}: define it as a bean, so that retention,
 * cleanup, meters and endpoint know of it.
 *
 * <pre>{@code
 * @Bean
 * IdempotentConsumer receipts() {
 *     return IdempotentConsumer.named("receipts").retention(Duration.ofDays(30));
 * }
 * }</pre>
 *
 * @param name the name under which its ids are recorded
 * @param retention how long they are remembered; {@code null} for {@code idempotency.retention}
 * @param resultRetention how long results are kept, at most for as long as the ids; {@code null} for
 *     {@code idempotency.results.retention}
 */
public record IdempotentConsumer(
        String name, @Nullable Duration retention, @Nullable Duration resultRetention) {

    public IdempotentConsumer {
        if (name == null
                || name.isBlank()
                || name.length() > MessageId.MAX_CONSUMER_LENGTH
                || name.indexOf('\0') >= 0) {
            String given = String.valueOf(name).replace('\0', '?');
            throw new IllegalArgumentException(
                    "The name of an IdempotentConsumer must have 1 to %d characters, and no NUL, but is '%s'"
                            .formatted(MessageId.MAX_CONSUMER_LENGTH, StringUtils.truncate(given)));
        }
        requirePositive(name, retention);
        requirePositive(name, resultRetention);
        if (retention != null && resultRetention != null && resultRetention.compareTo(retention) > 0) {
            throw new IllegalArgumentException(
                    "The result retention of consumer '%s' must be at most its retention (%s), but is %s"
                            .formatted(name, retention, resultRetention));
        }
    }

    private static void requirePositive(String consumer, @Nullable Duration duration) {
        if (duration != null && (duration.isNegative() || duration.isZero())) {
            throw new IllegalArgumentException(
                    "The retentions of consumer '%s' must be positive, but one is %s".formatted(consumer, duration));
        }
    }

    /** A consumer with the retentions that properties say. */
    public static IdempotentConsumer named(String name) {
        return new IdempotentConsumer(name, null, null);
    }

    /** The same consumer, whose ids are remembered for so long. */
    public IdempotentConsumer retention(Duration ids) {
        return new IdempotentConsumer(this.name, ids, this.resultRetention);
    }

    /** The same consumer, whose results are kept for so long. */
    public IdempotentConsumer resultRetention(Duration results) {
        return new IdempotentConsumer(this.name, this.retention, results);
    }
}
