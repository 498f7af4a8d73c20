package dev.idempotency.app;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A store defined by the application in place of the provided one; it rejects every claim. */
public class ForgetfulStore implements ProcessedMessageStore {

    @Override
    public Set<MessageId> claim(List<Claim> claims) {
        return Set.of();
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
