package dev.idempotency.internal.event;

import java.util.List;

/** The consumers of this instance that wait. */
@FunctionalInterface
public interface ConsumerOutages {

    /** Those that wait now. */
    List<ConsumerOutage> current();
}
