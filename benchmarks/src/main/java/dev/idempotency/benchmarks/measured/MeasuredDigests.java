package dev.idempotency.benchmarks.measured;

import java.util.LinkedHashMap;
import java.util.Map;

/** Listeners that look at no payloads, each with the one that does and is otherwise the same. */
public final class MeasuredDigests {

    private MeasuredDigests() {}

    /** Listeners without digests and who is compared with them. */
    public static Map<MeasuredListener, MeasuredListener> pairs() {
        Map<MeasuredListener, MeasuredListener> pairs = new LinkedHashMap<>();
        pairs.put(without("`conflicts = OFF`", UndigestedListener.ID), MeasuredRecordListeners.IDEMPOTENT);
        pairs.put(
                without("`conflicts = OFF`, 500, one JDBC batch", UndigestedListener.TOGETHER_500),
                MeasuredListener.deduplicating(
                        "`@IdempotentListener`, 500, one JDBC batch",
                        IdempotentBatchListener.TOGETHER_500,
                        "idempotency_processed",
                        IdempotentBatchListener.class));
        return pairs;
    }

    private static MeasuredListener without(String name, String listener) {
        return MeasuredListener.deduplicating(name, listener, "idempotency_processed", UndigestedListener.class);
    }
}
