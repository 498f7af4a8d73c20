package dev.idempotency.benchmarks.measured;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Listeners without digests of payloads, each with a listener that has them and is otherwise the same. */
public final class MeasuredDigests {

    private MeasuredDigests() {}

    /** Returns listeners without digests, each with itself and the listener that is compared with it. */
    public static Map<MeasuredListener, List<MeasuredListener>> comparisons() {
        Map<MeasuredListener, List<MeasuredListener>> comparisons = new LinkedHashMap<>();
        compare(
                comparisons,
                without("`onConflict = \"off\"`", UndigestedListener.ID),
                MeasuredRecordListeners.IDEMPOTENT);
        compare(
                comparisons,
                without("`onConflict = \"off\"`, 500, one JDBC batch", UndigestedListener.TOGETHER_500),
                MeasuredListener.deduplicating(
                        "`@IdempotentListener`, 500, one JDBC batch",
                        IdempotentBatchListener.TOGETHER_500,
                        "idempotency_processed",
                        IdempotentBatchListener.class));
        return comparisons;
    }

    private static void compare(
            Map<MeasuredListener, List<MeasuredListener>> comparisons,
            MeasuredListener without,
            MeasuredListener with) {
        comparisons.put(without, List.of(without, with));
    }

    private static MeasuredListener without(String name, String listener) {
        return MeasuredListener.deduplicating(name, listener, "idempotency_processed", UndigestedListener.class);
    }
}
