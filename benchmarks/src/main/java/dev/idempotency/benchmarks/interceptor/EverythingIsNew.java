package dev.idempotency.benchmarks.interceptor;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A store that remembers nothing and responds immediately. */
final class EverythingIsNew implements ProcessedMessageStore {

    @Override
    public Set<MessageId> claim(List<Claim> claims) {
        if (claims.size() == 1) {
            return Set.of(claims.get(0).id());
        }
        Set<MessageId> all = new HashSet<>(claims.size() * 2);
        claims.forEach(claim -> all.add(claim.id()));
        return all;
    }

    @Override
    public Map<MessageId, ProcessedMessage> find(Collection<MessageId> ids) {
        return Map.of();
    }

    @Override
    public boolean forget(MessageId id) {
        return false;
    }
}
