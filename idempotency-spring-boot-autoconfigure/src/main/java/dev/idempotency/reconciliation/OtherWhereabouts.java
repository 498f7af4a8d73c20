package dev.idempotency.reconciliation;

import dev.idempotency.kafka.PartitionReader;
import dev.idempotency.redrive.OriginalRecords;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Where messages may be that are not remembered as processed: in a retry topic, or in a dead-letter topic. Looked for once,
 * when the first such message is found.
 *
 * <p>That is done in the order in which messages travel, so that one that travels meanwhile is seen at one place at least,
 * or has been processed by then. What is not found here is to be looked for once more among the processed ones.
 */
final class OtherWhereabouts {

    private final List<ContainerScope> retries;
    private final Supplier<OriginalRecords> deadLetters;
    private final BooleanSupplier stopped;
    private final OriginalRecords retrying = new OriginalRecords();
    private @Nullable OriginalRecords dead;

    OtherWhereabouts(List<ContainerScope> retries, Supplier<OriginalRecords> deadLetters, BooleanSupplier stopped) {
        this.retries = retries;
        this.deadLetters = deadLetters;
        this.stopped = stopped;
    }

    /** Where the message of a record is, or {@code null} if it is in none of these. */
    @Nullable
    RecordFate find(ConsumerRecord<?, ?> record) {
        OriginalRecords died = this.dead;
        if (died == null) {
            this.retries.forEach(this::collect);
            died = this.deadLetters.get();
            this.dead = died;
        }
        if (died.contains(record)) {
            return RecordFate.DEAD_LETTERED;
        }
        return this.retrying.contains(record) ? RecordFate.RETRYING : null;
    }

    private void collect(ContainerScope retry) {
        try (PartitionReader reader = retry.open()) {
            reader.read(
                    retry.uncommitted(reader), this.stopped, records -> records.forEach(this.retrying::addOriginalOf));
        }
    }
}
