package dev.idempotency.internal.dedup;

import dev.idempotency.MessageId;
import dev.idempotency.event.Conflict;
import dev.idempotency.event.Duplicate;
import dev.idempotency.event.Stale;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a claim, each in order: messages that the listener is called with, those processed before, those older
 * than what was processed before, and the duplicates that reuse the id of another message.
 */
public record ClaimResult(
        List<InboundMessage> accepted,
        List<Duplicate> duplicates,
        List<Stale> stale,
        Map<InboundMessage, Conflict> conflicts) {

    public ClaimResult(List<InboundMessage> accepted, List<Duplicate> duplicates) {
        this(accepted, duplicates, List.of(), Map.of());
    }

    public boolean isEmpty() {
        return this.accepted.isEmpty();
    }

    /** The ids of the messages that the listener is called with, in order; {@code null} for one that has none. */
    public List<@Nullable MessageId> ids() {
        List<@Nullable MessageId> ids = new ArrayList<>(this.accepted.size());
        for (InboundMessage message : this.accepted) {
            ids.add(message.id());
        }
        return ids;
    }

    /** One of the messages that were claimed, to represent all; {@code null} if none has an id. */
    public @Nullable MessageId claimed() {
        for (InboundMessage message : this.accepted) {
            if (message.id() != null) {
                return message.id();
            }
        }
        return null;
    }
}
