package dev.idempotency.check;

import dev.idempotency.Check;
import dev.idempotency.Check.Level;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of the findings of each check.
 *
 * @param mode what becomes of all
 * @param relaxed checks whose findings matter one level less
 */
public record CheckPolicy(CheckMode mode, Set<Check> relaxed) {

    public CheckPolicy {
        relaxed = Set.copyOf(relaxed);
        for (Check check : relaxed) {
            if (check.isIndispensable()) {
                throw new IllegalArgumentException("idempotency.relaxed-checks names '%s', which cannot be relaxed: %s"
                        .formatted(check, check.danger()));
            }
        }
    }

    /** How much a finding of the check matters, or {@code null} if it is not reported. */
    @Nullable
    Level levelOf(Check check) {
        if (check.isIndispensable()) {
            return Level.FAIL;
        }
        if (this.mode == CheckMode.OFF) {
            return null;
        }
        if (this.relaxed.contains(check)) {
            return (check.level() == Level.FAIL) ? Level.WARN : null;
        }
        return (this.mode == CheckMode.WARN && check.level() == Level.FAIL) ? Level.WARN : check.level();
    }
}
