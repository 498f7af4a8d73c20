package dev.idempotency.actuate;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/** Looks messages up by the key their producer gave them, or by the id under which they are stored. */
final class ProcessedMessages {

    private final ProcessedMessageStore store;

    ProcessedMessages(ProcessedMessageStore store) {
        this.store = store;
    }

    @Nullable
    ProcessedMessage find(String consumer, String key) {
        Set<MessageId> ids = ids(consumer, key);
        Map<MessageId, ProcessedMessage> found = this.store.find(ids);
        return ids.stream()
                .filter(found::containsKey)
                .map(found::get)
                .findFirst()
                .orElse(null);
    }

    /** The id under which a message with this key is stored. */
    MessageId idOf(String consumer, String key) {
        return ids(consumer, key).iterator().next();
    }

    boolean forget(MessageId id) {
        return this.store.forget(id);
    }

    /** What a producer's key is stored as comes first; then the text itself, which may be a digest taken from a log. */
    private static Set<MessageId> ids(String consumer, String key) {
        try {
            Set<MessageId> ids = new LinkedHashSet<>();
            ids.add(MessageIdResolver.idOf(consumer, key));
            if (key.length() <= MessageId.MAX_VALUE_LENGTH) {
                ids.add(new MessageId(consumer, key));
            }
            return ids;
        } catch (InvalidMessageKeyException | IllegalArgumentException ex) {
            throw new InvalidEndpointRequestException(
                    "No message can have this id: " + ex.getMessage(), "No message can have this id");
        }
    }
}
