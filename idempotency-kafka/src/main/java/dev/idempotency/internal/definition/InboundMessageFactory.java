package dev.idempotency.internal.definition;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.MessageId;
import dev.idempotency.OnMissingKey;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.dedup.InboundMessage;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.key.ExpressionKeySource;
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
        ConflictHandling conflicts,
        @Nullable ExpressionKeySource locks) {

    private static final String LOCK_REMEDY = "Let its producer set one, or write an expression in"
            + " @IdempotentListener(lock = …) that is never empty.";

    /** The same without locks, for use cases that only identify messages. */
    public InboundMessageFactory withoutLocks() {
        return new InboundMessageFactory(this.strategy, this.ids, this.versions, this.conflicts, null);
    }

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
        String lock = (this.locks != null) ? lockOf(message, this.locks) : null;
        // A message without a key, where such are processed, belongs to no entity that could have a version.
        if (this.versions != null && id != null) {
            VersionClaim claim = new VersionClaim(id, this.versions.resolve(message), coordinates);
            return new InboundMessage(position, record, claim.messageId(), coordinates, null, claim, lock);
        }
        Long digest = (id != null) ? this.conflicts.digest(record, coordinates) : null;
        return new InboundMessage(position, record, id, coordinates, digest, null, lock);
    }

    /** The key that a message locks, which it must have: without one it would run beside others. */
    private String lockOf(MessageView message, ExpressionKeySource source) {
        return MessageIdResolver.require("lock", message, this.ids.consumer(), source, LOCK_REMEDY, () -> {
            String key = source.keyOf(message);
            return (key != null && !MessageId.isNoKey(key)) ? key : null;
        });
    }

    /** Returns the variables of the converted message that it needs; none if the record is enough. */
    public Set<String> variables() {
        Set<String> variables = new HashSet<>(this.ids.source().variables());
        if (this.locks != null) {
            variables.addAll(this.locks.variables());
        }
        if (this.versions != null) {
            variables.addAll(this.versions.source().variables());
        }
        return variables;
    }
}
