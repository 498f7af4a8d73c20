package dev.idempotency.internal.inbox;

import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.retention.ProcessedMessageCleanup.Drain;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import dev.idempotency.retention.CleanupTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Forgets messages of the inbox, counted from their last change: processed ones after one time, failed, unknown, forgotten
 * and replayed ones after another. What has been processed is remembered elsewhere.
 *
 * <p>Messages of consumers that are not in this application, for which other times may hold, are all kept until the
 * consumer has been idle for long enough to count as abandoned, and then all removed.
 */
public final class InboxCleanup implements CleanupTask {

    private final InboxPurge inbox;
    private final ConsumerRegistry consumers;
    private final @Nullable Duration orphansAfter;
    private final Map<InboxStatus, Duration> retentions;

    /** {@code orphansAfter} is {@code null} if consumers of other applications are never touched. */
    public InboxCleanup(
            InboxPurge inbox,
            ConsumerRegistry consumers,
            @Nullable Duration orphansAfter,
            Duration processed,
            Duration failed) {
        this.inbox = inbox;
        this.consumers = consumers;
        this.orphansAfter = orphansAfter;
        this.retentions = Map.of(
                InboxStatus.PROCESSED, processed,
                InboxStatus.FAILED, failed,
                InboxStatus.UNKNOWN, failed,
                InboxStatus.FORGOTTEN, failed,
                InboxStatus.REPLAYED, failed);
    }

    @Override
    public String name() {
        return "inbox";
    }

    @Override
    public List<Backlog> backlogs() {
        Set<String> known = this.consumers.names();
        List<String> present = this.inbox.consumers();
        List<Backlog> backlogs = new ArrayList<>();
        if (!Collections.disjoint(known, present)) {
            this.retentions.forEach((status, age) -> backlogs.add(drain(known, status, age)));
        }
        Duration idle = this.orphansAfter;
        if (idle != null) {
            List<String> abandoned = present.stream()
                    .filter(consumer -> !known.contains(consumer) && this.inbox.isAbandoned(consumer, idle))
                    .toList();
            this.retentions.keySet().forEach(status -> backlogs.add(drain(abandoned, status, idle)));
        }
        return backlogs;
    }

    private Backlog drain(Collection<String> consumers, InboxStatus status, Duration age) {
        return new Drain<>(
                ProcessedMessagePurge.BEGINNING,
                (from, limit) -> this.inbox.purgeExpired(consumers, status, age, from, limit));
    }
}
