package dev.idempotency.inbox;

import java.util.List;

/**
 * What is kept in the inbox.
 *
 * @param forAll whether all listeners have one
 * @param maxPayload the size in bytes beyond which a payload is left out
 * @param typeHeaders headers that tell a message's type; the first one present counts
 * @param maxStarts how often a listener is called with a message that ends the process each time
 */
public record InboxSettings(boolean forAll, int maxPayload, List<String> typeHeaders, int maxStarts) {

    /** Whoever kills a process once may have had other reasons than the message that it was at. */
    private static final int FEWEST_STARTS = 2;

    public InboxSettings {
        maxStarts = Math.max(maxStarts, FEWEST_STARTS);
        typeHeaders = List.copyOf(typeHeaders);
    }
}
