package dev.idempotency.autoconfigure;

import dev.idempotency.database.RetentionLimit;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Settings under {@code idempotency.results}: results that are kept and given again.
 *
 * @param maxSize how large the text of a result may be
 * @param retention how long results are kept, at most as long as their ids, or '-' for as long as these
 */
@ConfigurationProperties("idempotency.results")
public record ResultsProperties(
        @DefaultValue("1MB") DataSize maxSize,
        @DefaultValue("-") DurationOrNever retention) {

    private static final DataSize LARGEST = DataSize.ofMegabytes(100);

    public ResultsProperties {
        if (maxSize.isNegative() || maxSize.toBytes() == 0 || maxSize.compareTo(LARGEST) > 0) {
            throw new IllegalArgumentException(
                    "idempotency.results.max-size must be between 1B and %s, but is %s".formatted(LARGEST, maxSize));
        }
        if (retention.duration() != null) {
            RetentionLimit.require("idempotency.results.retention", retention.duration());
        }
    }

    /** How long results are kept at most. */
    Duration longest() {
        Duration set = this.retention.duration();
        return (set != null) ? set : Duration.ofSeconds(Long.MAX_VALUE);
    }
}
