package dev.idempotency.internal.definition;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.MessageId;
import dev.idempotency.OnMissingKey;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.key.MessageIdResolver;
import dev.idempotency.internal.key.MessageView;
import dev.idempotency.internal.key.VersionResolver;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** Creates candidates from delivered messages, with what a listener's strategy recognises them by. */
public record InboundMessageFactory(
        DeduplicationStrategy strategy,
        MessageIdResolver ids,
        @Nullable VersionResolver versions,
        ConflictHandling conflicts) {

    /**
     * Identifies a message, or throws an {@link dev.idempotency.InvalidMessageKeyException}; {@code null} to skip it.
     */
    public @Nullable InboundMessage create(int position, MessageView message) {
        ConsumerRecord<?, ?> record = message.record();
        MessageId id = this.ids.resolve(message);
        if (id == null && this.ids.onMissing() == OnMissingKey.SKIP) {
            return null;
        }
        // A copy of a record, as in retry topics, is the same message, but not the same record.
        RecordCoordinates coordinates =
                this.strategy.isForgetful() ? KafkaCoordinates.original(record) : KafkaCoordinates.of(record);
        // A message without a key, where such are processed, belongs to no entity that could have a version.
        if (this.versions != null && id != null) {
            VersionClaim claim = new VersionClaim(id, this.versions.resolve(message), coordinates);
            return new InboundMessage(position, record, claim.messageId(), coordinates, null, claim);
        }
        Long digest = (id != null) ? this.conflicts.digest(record, coordinates) : null;
        return new InboundMessage(position, record, id, coordinates, digest, null);
    }

    /** Returns the variables of the converted message that it needs; none if the record is enough. */
    public Set<String> variables() {
        Set<String> variables = new HashSet<>(this.ids.source().variables());
        if (this.versions != null) {
            variables.addAll(this.versions.source().variables());
        }
        return variables;
    }
}
