package dev.idempotency.benchmarks.measured;

import java.util.LinkedHashMap;
import java.util.Map;

/** The batch listeners, each with the raw one that it is compared with: same size, same work. */
public final class MeasuredBatchListeners {

    public static final MeasuredListener IDEMPOTENT_500 =
            idempotent("`@IdempotentListener`, 500, one statement per message", IdempotentBatchListener.EACH_500);

    private MeasuredBatchListeners() {}

    /** Raw listeners and who is compared with them. */
    public static Map<MeasuredListener, MeasuredListener> pairs() {
        Map<MeasuredListener, MeasuredListener> pairs = new LinkedHashMap<>();
        pairs.put(
                raw("raw, 50, one statement per message", RawBatchListener.EACH_50),
                idempotent("`@IdempotentListener`, 50, one statement per message", IdempotentBatchListener.EACH_50));
        pairs.put(raw("raw, 500, one statement per message", RawBatchListener.EACH_500), IDEMPOTENT_500);
        pairs.put(
                raw("raw, 50, one JDBC batch", RawBatchListener.TOGETHER_50),
                idempotent("`@IdempotentListener`, 50, one JDBC batch", IdempotentBatchListener.TOGETHER_50));
        pairs.put(
                raw("raw, 500, one JDBC batch", RawBatchListener.TOGETHER_500),
                idempotent("`@IdempotentListener`, 500, one JDBC batch", IdempotentBatchListener.TOGETHER_500));
        return pairs;
    }

    private static MeasuredListener raw(String name, String listener) {
        return MeasuredListener.raw(name, listener, RawBatchListener.class);
    }

    private static MeasuredListener idempotent(String name, String listener) {
        return MeasuredListener.deduplicating(name, listener, "idempotency_processed", IdempotentBatchListener.class);
    }
}
