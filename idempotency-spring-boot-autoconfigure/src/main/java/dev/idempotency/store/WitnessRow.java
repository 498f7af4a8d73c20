package dev.idempotency.store;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import java.util.List;
import java.util.UUID;

/**
 * A row that stands for a moment among the claims, to tell whether the database has undone the transaction meanwhile: it
 * is written when the transaction begins and removed before its commit, so that nobody else ever sees it.
 */
final class WitnessRow {

    private static final String PREFIX = "idempotency-witness:";
    private static final RecordCoordinates NOWHERE = new RecordCoordinates("-", 0, 0);

    private final JdbcProcessedMessageStore store;
    private final MessageId id;

    WitnessRow(JdbcProcessedMessageStore store, String consumer) {
        this.store = store;
        this.id = new MessageId(consumer, PREFIX + UUID.randomUUID());
        store.claim(List.of(new Claim(this.id, NOWHERE)));
    }

    /** Whether it was still there. */
    boolean remove() {
        return this.store.unclaim(this.id);
    }
}
