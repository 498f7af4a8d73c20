package dev.idempotency.autoconfigure;

import dev.idempotency.database.RetentionLimit;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings under {@code idempotency.cleanup}.
 *
 * @param interval time between two runs, or '-' for no scheduled runs
 * @param orphansAfter how long a consumer that is not in this application must have been idle for its rows to be
 *     removed, or '-' to keep them
 */
@ConfigurationProperties("idempotency.cleanup")
public record CleanupProperties(
        @DefaultValue("1m") DurationOrNever interval,
        @DefaultValue("30d") DurationOrNever orphansAfter) {

    private static final Duration SHORTEST_ORPHANS_AFTER = Duration.ofDays(1);

    public CleanupProperties {
        if (interval.duration() != null) {
            RetentionLimit.require("idempotency.cleanup.interval", interval.duration());
        }
        Duration idle = orphansAfter.duration();
        if (idle != null) {
            RetentionLimit.require("idempotency.cleanup.orphans-after", idle);
        }
        if (idle != null && idle.compareTo(SHORTEST_ORPHANS_AFTER) < 0) {
            throw new IllegalArgumentException(("idempotency.cleanup.orphans-after must be at least %s, but is %s: the"
                            + " consumer may be in an application that shares this database and is down for a while")
                    .formatted(SHORTEST_ORPHANS_AFTER, idle));
        }
    }
}
