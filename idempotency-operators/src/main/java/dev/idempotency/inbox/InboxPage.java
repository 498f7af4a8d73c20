package dev.idempotency.inbox;

import java.util.List;

/**
 * Some of the messages that were asked for.
 *
 * @param page which page they are, from 0
 * @param last whether there are no more
 */
public record InboxPage(List<InboxEntry> entries, int page, boolean last) {

    public InboxPage {
        entries = List.copyOf(entries);
    }
}
