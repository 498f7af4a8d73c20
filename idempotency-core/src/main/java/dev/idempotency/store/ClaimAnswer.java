package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The answer to claims, with what is known of those that were not free.
 *
 * @param claimed the ids that were free and are claimed now
 * @param originals the messages that the others are duplicates of, as far as they are known
 */
public record ClaimAnswer(Set<MessageId> claimed, Map<MessageId, ProcessedMessage> originals) {

    /** One that knows no originals. */
    public ClaimAnswer(Set<MessageId> claimed) {
        this(claimed, Map.of());
    }

    /** The same, with the originals looked up that it does not know. */
    public ClaimAnswer complete(
            List<Claim> claims, Function<Collection<MessageId>, Map<MessageId, ProcessedMessage>> lookUp) {
        if (this.claimed.size() + this.originals.size() == claims.size()) {
            return this;
        }
        List<MessageId> unknown = claims.stream()
                .map(Claim::id)
                .filter(id -> !this.claimed.contains(id) && !this.originals.containsKey(id))
                .toList();
        Map<MessageId, ProcessedMessage> all = new HashMap<>(this.originals);
        all.putAll(lookUp.apply(unknown));
        return new ClaimAnswer(this.claimed, all);
    }
}
