package dev.idempotency.benchmarks.contender;

import java.util.LinkedHashMap;
import java.util.Map;

/** The batch listeners, each with the raw one that it is compared with: same size, same work. */
public final class BatchContenders {

    public static final Contender IDEMPOTENT_500 =
            idempotent("`@IdempotentListener`, 500, one statement a message", IdempotentBatchListener.EACH_500);

    private BatchContenders() {}

    /** Raw listeners and who is compared with them. */
    public static Map<Contender, Contender> pairs() {
        Map<Contender, Contender> pairs = new LinkedHashMap<>();
        pairs.put(
                raw("raw, 50, one statement a message", RawBatchListener.EACH_50),
                idempotent("`@IdempotentListener`, 50, one statement a message", IdempotentBatchListener.EACH_50));
        pairs.put(raw("raw, 500, one statement a message", RawBatchListener.EACH_500), IDEMPOTENT_500);
        pairs.put(
                raw("raw, 50, one JDBC batch", RawBatchListener.TOGETHER_50),
                idempotent("`@IdempotentListener`, 50, one JDBC batch", IdempotentBatchListener.TOGETHER_50));
        pairs.put(
                raw("raw, 500, one JDBC batch", RawBatchListener.TOGETHER_500),
                idempotent("`@IdempotentListener`, 500, one JDBC batch", IdempotentBatchListener.TOGETHER_500));
        return pairs;
    }

    private static Contender raw(String name, String listener) {
        return Contender.raw(name, listener, RawBatchListener.class);
    }

    private static Contender idempotent(String name, String listener) {
        return Contender.deduplicating(name, listener, "idempotency_processed", IdempotentBatchListener.class);
    }
}
