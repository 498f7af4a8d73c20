package dev.idempotency.observe;

import java.util.List;

/** The consumers of this instance that wait. */
@FunctionalInterface
public interface ConsumerOutages {

    /** Those that wait now. */
    List<ConsumerOutage> current();
}
