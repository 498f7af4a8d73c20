package dev.idempotency.actuate;

import dev.idempotency.MessageId;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.store.ProcessedMessage;
import dev.idempotency.store.ProcessedMessageStore;
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

    /** The ids under which a message with this key may be stored. */
    static Set<MessageId> ids(String consumer, String key) {
        if (consumer.indexOf('\0') >= 0) {
            throw new InvalidEndpointRequestException(
                    "No consumer can have this name: it contains a NUL character, which databases refuse",
                    "No consumer can have this name");
        }
        try {
            return MessageIdResolver.idsNamed(consumer, key);
        } catch (IllegalArgumentException ex) {
            throw new InvalidEndpointRequestException(
                    "No message can have this id: " + ex.getMessage(), "No message can have this id");
        }
    }
}
