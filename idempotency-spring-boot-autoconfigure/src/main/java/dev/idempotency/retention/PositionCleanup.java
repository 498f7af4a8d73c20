package dev.idempotency.retention;

import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.store.JdbcPositionStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Forgets the positions of consumers that are not in this application and have been idle for long enough to be taken for
 * abandoned. Any other position is kept for ever.
 */
public final class PositionCleanup implements CleanupTask {

    private final JdbcPositionStore positions;
    private final ConsumerRegistry consumers;
    private final @Nullable Duration orphansAfter;

    /** {@code orphansAfter} is {@code null} if consumers of other applications are never touched. */
    public PositionCleanup(JdbcPositionStore positions, ConsumerRegistry consumers, @Nullable Duration orphansAfter) {
        this.positions = positions;
        this.consumers = consumers;
        this.orphansAfter = orphansAfter;
    }

    @Override
    public String name() {
        return "positions";
    }

    @Override
    public List<Backlog> backlogs() {
        Duration idle = this.orphansAfter;
        if (idle == null) {
            return List.of();
        }
        Set<String> known = this.consumers.names();
        return this.positions.consumers().stream()
                .filter(consumer -> !known.contains(consumer))
                .<Backlog>map(consumer -> limit -> this.positions.purgeAbandoned(consumer, idle, limit))
                .toList();
    }
}
