package dev.idempotency.retention;

import dev.idempotency.inbox.InboxPurge;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.retention.ProcessedMessageCleanup.Drain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Forgets messages of the inbox, counted from their last change: processed ones after one time, failed, forgotten
 * and replayed ones after another. What has been processed is remembered elsewhere.
 *
 * <p>Messages of consumers that are not in this application, for which other times may hold, are all kept until the
 * consumer has been idle for long enough to be taken for abandoned, and then all removed.
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
            this.retentions.forEach((status, age) ->
                    backlogs.add(new Drain((from, limit) -> this.inbox.purgeExpired(known, status, age, from, limit))));
        }
        Duration idle = this.orphansAfter;
        if (idle != null) {
            present.stream()
                    .filter(consumer -> !known.contains(consumer))
                    .map(consumer -> new Orphan(consumer, idle))
                    .forEach(backlogs::add);
        }
        return backlogs;
    }

    /** Messages of a consumer that is not in this application. */
    private final class Orphan implements Backlog {

        private final String consumer;
        private final Duration idle;
        private @Nullable Boolean abandoned;
        private String after = "";

        Orphan(String consumer, Duration idle) {
            this.consumer = consumer;
            this.idle = idle;
        }

        @Override
        public int remove(int limit) {
            if (this.abandoned == null) {
                this.abandoned = InboxCleanup.this.inbox.isAbandoned(this.consumer, this.idle);
            }
            if (!this.abandoned) {
                return 0;
            }
            List<String> forgotten =
                    InboxCleanup.this.inbox.purgeUnchanged(this.consumer, this.idle, this.after, limit);
            if (!forgotten.isEmpty()) {
                this.after = forgotten.get(forgotten.size() - 1);
            }
            return forgotten.size();
        }
    }
}
