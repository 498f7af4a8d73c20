package dev.idempotency.internal.database;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.Locale;

/** The wish to replace the version of an entity by a newer one. */
public record VersionClaim(MessageId entity, EntityVersion version, RecordCoordinates coordinates) {

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

    /** The kind of the version, as it is stored. */
    String kind() {
        return this.version.kind().name().toLowerCase(Locale.ROOT);
    }
}
