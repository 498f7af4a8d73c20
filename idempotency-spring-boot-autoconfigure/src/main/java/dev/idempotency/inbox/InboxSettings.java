package dev.idempotency.inbox;

import java.util.List;

/**
 * What is kept in the inbox.
 *
 * @param forAll whether all listeners have one
 * @param maxPayload the size in bytes beyond which a payload is left out
 * @param typeHeaders headers that tell a message's type; the first one present counts
 */
public record InboxSettings(boolean forAll, int maxPayload, List<String> typeHeaders) {

    public InboxSettings {
        typeHeaders = List.copyOf(typeHeaders);
    }
}
