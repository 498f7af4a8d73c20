package dev.idempotency.reconciliation;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.PartitionReader;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
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
    private final Supplier<Set<RecordCoordinates>> deadLetters;
    private final BooleanSupplier stopped;
    private final Set<RecordCoordinates> retrying = new HashSet<>();
    private @Nullable Set<RecordCoordinates> dead;

    OtherWhereabouts(
            List<ContainerScope> retries, Supplier<Set<RecordCoordinates>> deadLetters, BooleanSupplier stopped) {
        this.retries = retries;
        this.deadLetters = deadLetters;
        this.stopped = stopped;
    }

    /** Where a message is that stood there first, or {@code null} if it is in none of these. */
    @Nullable
    RecordFate find(RecordCoordinates original) {
        Set<RecordCoordinates> died = this.dead;
        if (died == null) {
            this.retries.forEach(this::collect);
            died = this.deadLetters.get();
            this.dead = died;
        }
        if (died.contains(original)) {
            return RecordFate.DEAD_LETTERED;
        }
        return this.retrying.contains(original) ? RecordFate.RETRYING : null;
    }

    private void collect(ContainerScope retry) {
        try (PartitionReader reader = retry.open()) {
            reader.read(
                    retry.uncommitted(reader),
                    this.stopped,
                    records -> records.forEach(record -> this.retrying.add(RecordCoordinates.original(record))));
        }
    }
}
