package dev.idempotency.retention;

import dev.idempotency.inbox.InboxPurge;
import dev.idempotency.inbox.InboxStatus;
import dev.idempotency.observe.ConsumerRegistry;
import dev.idempotency.store.ProcessedMessagePurge;
import dev.idempotency.store.ProcessedMessagePurge.Purged;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Forgets messages of the inbox, counted from their last change: processed ones after one time, failed, forgotten
 * and replayed ones after another. No duplicate is let through by that: what has been processed is remembered elsewhere.
 *
 * <p>So it is for consumers of this application. Messages of any other one, for which other times may hold, are all kept
 * until it has been idle for long enough to be taken for abandoned, and then all go.
 */
public final class InboxCleanup implements CleanupTask {

    private final InboxPurge inbox;
    private final ConsumerRegistry consumers;
    private final @Nullable Duration orphansAfter;
    private final List<Expiry> expiries;

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
        this.expiries = List.of(
                new Expiry(InboxStatus.PROCESSED, processed),
                new Expiry(InboxStatus.FAILED, failed),
                new Expiry(InboxStatus.FORGOTTEN, failed),
                new Expiry(InboxStatus.REPLAYED, failed));
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
        // Who has no inbox need not have a right to write it.
        if (!Collections.disjoint(known, present)) {
            this.expiries.forEach(expiry -> {
                expiry.begin(known);
                backlogs.add(expiry);
            });
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

    /**
     * Messages with a status of consumers of this application.
     *
     * <p>The index does not tell consumers apart, and another one may keep its messages for longer. What has been looked
     * through is not looked through at every run: a day of it is, for rows that were held or that were late.
     */
    private final class Expiry implements Backlog {

        private static final Duration AGAIN = Duration.ofDays(1);

        private final InboxStatus status;
        private final Duration age;
        private Set<String> known = Set.of();
        private Instant from = ProcessedMessagePurge.BEGINNING;

        Expiry(InboxStatus status, Duration age) {
            this.status = status;
            this.age = age;
        }

        void begin(Set<String> consumers) {
            boolean same = this.known.equals(consumers);
            this.known = consumers;
            this.from = (same && this.from.isAfter(ProcessedMessagePurge.BEGINNING.plus(AGAIN)))
                    ? this.from.minus(AGAIN)
                    : ProcessedMessagePurge.BEGINNING;
        }

        @Override
        public int remove(int limit) {
            Purged forgotten =
                    InboxCleanup.this.inbox.purgeExpired(this.known, this.status, this.age, this.from, limit);
            this.from = forgotten.upTo();
            return forgotten.rows();
        }
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
