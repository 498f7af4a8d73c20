package dev.idempotency.internal.check;

import dev.idempotency.StartupCheck;
import dev.idempotency.StartupCheck.Level;
import dev.idempotency.StartupCheck.Mode;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decides how findings are reported: by the mode, and one level lower for relaxed checks. */
public record CheckPolicy(Mode mode, Set<StartupCheck> relaxed) {

    public CheckPolicy {
        relaxed = Set.copyOf(relaxed);
        for (StartupCheck check : relaxed) {
            if (check.isIndispensable()) {
                throw new IllegalArgumentException("idempotency.checks.relaxed names '%s', which cannot be relaxed: %s"
                        .formatted(check, check.danger()));
            }
        }
    }

    boolean isOff() {
        return this.mode == Mode.OFF;
    }

    @Nullable
    Level levelOf(StartupCheck check) {
        if (check.isIndispensable()) {
            return Level.FAIL;
        }
        if (isOff()) {
            return null;
        }
        if (this.relaxed.contains(check)) {
            return (check.level() == Level.FAIL) ? Level.WARN : null;
        }
        return (this.mode == Mode.WARN && check.level() == Level.FAIL) ? Level.WARN : check.level();
    }
}
