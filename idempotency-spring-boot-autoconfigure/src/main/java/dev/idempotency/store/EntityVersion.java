package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.Version;

/**
 * Which version of which entity a message carries.
 *
 * @param entity the entity
 * @param version its version
 */
public record EntityVersion(MessageId entity, Version version) {

    /**
     * The message's own id: two versions of one entity are two messages. The text of a version has no {@code @}, so that two
     * of them never have the same.
     */
    public MessageId messageId() {
        String text = this.entity.value() + "@" + this.version;
        return (text.length() <= MessageId.MAX_VALUE_LENGTH)
                ? new MessageId(this.entity.consumer(), text)
                : MessageId.of(this.entity.consumer(), text);
    }
}
