package dev.idempotency.benchmarks.measured;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The batch listeners, with the raw ones for comparison: same size, same work. */
public final class MeasuredBatchListeners {

    private static final MeasuredListener IDEMPOTENT_EACH_50 =
            idempotent("`@IdempotentListener`, 50, one statement per message", IdempotentBatchListener.EACH_50);

    private static final MeasuredListener IDEMPOTENT_EACH_500 =
            idempotent("`@IdempotentListener`, 500, one statement per message", IdempotentBatchListener.EACH_500);

    private static final MeasuredListener OFFSET_EACH_500 = offset(
            "`@IdempotentListener(strategy = OFFSET)`, 500, one statement per message", OffsetBatchListener.EACH_500);

    private static final MeasuredListener IDEMPOTENT_TOGETHER_50 =
            idempotent("`@IdempotentListener`, 50, one JDBC batch", IdempotentBatchListener.TOGETHER_50);

    private static final MeasuredListener IDEMPOTENT_TOGETHER_500 =
            idempotent("`@IdempotentListener`, 500, one JDBC batch", IdempotentBatchListener.TOGETHER_500);

    private static final MeasuredListener OFFSET_TOGETHER_500 =
            offset("`@IdempotentListener(strategy = OFFSET)`, 500, one JDBC batch", OffsetBatchListener.TOGETHER_500);

    private MeasuredBatchListeners() {}

    /** Returns raw listeners, each with the listeners that are compared with it. */
    public static Map<MeasuredListener, List<MeasuredListener>> comparisons() {
        Map<MeasuredListener, List<MeasuredListener>> comparisons = new LinkedHashMap<>();
        comparisons.put(
                raw("raw, 50, one statement per message", RawBatchListener.EACH_50), List.of(IDEMPOTENT_EACH_50));
        comparisons.put(
                raw("raw, 500, one statement per message", RawBatchListener.EACH_500),
                List.of(
                        IDEMPOTENT_EACH_500, //
                        OFFSET_EACH_500));
        comparisons.put(raw("raw, 50, one JDBC batch", RawBatchListener.TOGETHER_50), List.of(IDEMPOTENT_TOGETHER_50));
        comparisons.put(
                raw("raw, 500, one JDBC batch", RawBatchListener.TOGETHER_500),
                List.of(
                        IDEMPOTENT_TOGETHER_500, //
                        OFFSET_TOGETHER_500));
        return comparisons;
    }

    /** Returns the listeners that are also measured with duplicates only. */
    public static List<MeasuredListener> withDuplicates() {
        return List.of(
                IDEMPOTENT_EACH_500, //
                OFFSET_EACH_500);
    }

    /** Returns the listeners whose rates are at the beginning of a report. */
    public static List<MeasuredListener> headlines() {
        return List.of(
                IDEMPOTENT_EACH_500, //
                OFFSET_EACH_500,
                IDEMPOTENT_TOGETHER_500,
                OFFSET_TOGETHER_500);
    }

    private static MeasuredListener raw(String name, String listener) {
        return MeasuredListener.raw(name, listener, RawBatchListener.class);
    }

    private static MeasuredListener idempotent(String name, String listener) {
        return MeasuredListener.deduplicating(name, listener, MeasuredListener.CLAIMS, IdempotentBatchListener.class);
    }

    private static MeasuredListener offset(String name, String listener) {
        return MeasuredListener.deduplicating(name, listener, MeasuredListener.POSITIONS, OffsetBatchListener.class);
    }
}
