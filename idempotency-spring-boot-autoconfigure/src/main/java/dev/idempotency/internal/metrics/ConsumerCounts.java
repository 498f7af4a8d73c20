package dev.idempotency.internal.metrics;

import java.util.Map;

/** Tells what the meters of consumers have counted. */
@FunctionalInterface
public interface ConsumerCounts {

    /** Where there are no meters. */
    ConsumerCounts NONE = (meter, tag, consumer) -> Map.of();

    /** The counts of a consumer's meter by the values of a tag. */
    Map<String, Long> countsOf(String meter, String tag, String consumer);
}
