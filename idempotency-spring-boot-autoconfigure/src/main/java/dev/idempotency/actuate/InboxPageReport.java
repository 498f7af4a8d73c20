package dev.idempotency.actuate;

import dev.idempotency.inbox.InboxPage;
import java.util.List;

/**
 * A page of the inbox.
 *
 * @param messages its messages, what changed last first
 * @param page which page it is, from 0
 * @param last whether there are no more
 */
record InboxPageReport(List<InboxEntryReport> messages, int page, boolean last) {

    static InboxPageReport of(InboxPage page) {
        return new InboxPageReport(
                page.entries().stream().map(InboxEntryReport::brief).toList(), page.page(), page.last());
    }
}
