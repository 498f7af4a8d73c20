package dev.idempotency.reconciliation;

import dev.idempotency.OperatorActionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compares the topics of a consumer with what it remembers: every record that its group has committed must be processed,
 * dead-lettered or recorded as failed. Others are missing, and can be sent again.
 *
 * <p>It reads beside the consumer, as a member of no group, with the listener's own deserializers, filter and key, from the
 * records of a time on to the offsets that the group had committed when it began. The listener is not called. It judges
 * records from the first one on that the consumer remembers of their partition: earlier ones may have been processed without
 * the library, or under another name.
 *
 * <p>A message that is sent again takes the ordinary path: should it have been processed after all, it is dropped. But
 * messages that were removed from the tables count as never processed, and are processed again.
 */
public interface Reconciliation {

    /** The consumers with listeners. */
    Set<String> consumers();

    /**
     * Starts a reconciliation: one at a time per consumer.
     *
     * @return how it stands at its beginning
     * @throws OperatorActionException if there is no such consumer, it cannot be reconciled, or another one is under way
     */
    ReconciliationReport start(ReconciliationRequest request);

    /** The reconciliation of a consumer that runs, or ran last since the start of this instance; {@code null} without one. */
    @Nullable
    ReconciliationReport lastReconciliation(String consumer);

    /** Has the reconciliation of a consumer end soon; returns whether there is one. */
    boolean cancel(String consumer);
}
