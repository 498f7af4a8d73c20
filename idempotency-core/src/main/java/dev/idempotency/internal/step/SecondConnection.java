package dev.idempotency.internal.step;

import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks, at the first step, whether the pool has a connection for it beside those of the listeners' transactions. */
public final class SecondConnection {

    private static final Logger logger = LoggerFactory.getLogger(SecondConnection.class);

    private final Supplier<@Nullable Integer> poolSize;
    private final IntSupplier consumers;
    private volatile boolean found;

    /**
     * Looks at a pool.
     *
     * @param poolSize how many connections it has at most, if that is known
     * @param consumers how many consumers may hold one at the same time
     */
    public SecondConnection(Supplier<@Nullable Integer> poolSize, IntSupplier consumers) {
        this.poolSize = poolSize;
        this.consumers = consumers;
    }

    void require() {
        if (this.found) {
            return;
        }
        Integer size = this.poolSize.get();
        if (size != null && size == 1) {
            throw new IllegalStateException(
                    "A step is recorded on a second connection while the listener's transaction holds"
                            + " the first, but the pool has one only. Set spring.datasource.hikari.maximum-pool-size to 2 or more.");
        }
        int holders = this.consumers.getAsInt();
        if (size != null && size > 1 && size <= holders) {
            logger.warn(
                    "{} consumers share a pool of {} connections. While a step is recorded, its listener needs a second one: if"
                            + " all wait for it, they fail after the pool's connection timeout and repeat what is not recorded"
                            + " yet. Set spring.datasource.hikari.maximum-pool-size to {} or more.",
                    holders,
                    size,
                    holders + 1);
        }
        this.found = true;
    }
}
