package dev.idempotency.retention;

import dev.idempotency.inbox.ForgettableInbox;
import dev.idempotency.inbox.InboxStatus;
import java.time.Duration;
import java.util.List;

/**
 * Forgets messages of the inbox, counted from their last change: processed ones after one time, failed and replayed ones
 * after another. No duplicate is let through by that: what has been processed is remembered elsewhere.
 */
public final class InboxCleanup implements CleanupTask {

    private final ForgettableInbox inbox;
    private final Duration processed;
    private final Duration failed;

    public InboxCleanup(ForgettableInbox inbox, Duration processed, Duration failed) {
        this.inbox = inbox;
        this.processed = processed;
        this.failed = failed;
    }

    @Override
    public String name() {
        return "inbox";
    }

    @Override
    public List<Backlog> backlogs() {
        return List.of(
                limit -> this.inbox.forget(InboxStatus.PROCESSED, this.processed, limit),
                limit -> this.inbox.forget(InboxStatus.FAILED, this.failed, limit),
                limit -> this.inbox.forget(InboxStatus.REPLAYED, this.failed, limit));
    }
}
