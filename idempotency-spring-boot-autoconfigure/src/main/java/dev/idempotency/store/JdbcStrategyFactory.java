package dev.idempotency.store;

import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.observe.ConsumerObserver;
import java.time.Duration;

/** Makes the strategies that have a table of their own, beside that of processed messages. */
public final class JdbcStrategyFactory implements AutoCloseable {

    private final IdempotencyDatabase database;
    private final Duration claimTimeout;
    private final JdbcVersionStore versions;
    private final Runnable versionsUsed;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcStrategyFactory(IdempotencyDatabase database, Duration claimTimeout) {
        this(database, claimTimeout, () -> {});
    }

    /** {@code versionsUsed} is told when a listener compares versions. */
    public JdbcStrategyFactory(IdempotencyDatabase database, Duration claimTimeout, Runnable versionsUsed) {
        this.database = database;
        this.claimTimeout = claimTimeout;
        this.versionsUsed = versionsUsed;
        this.versions = new JdbcVersionStore(database, claimTimeout);
    }

    /** Recognises the messages of a consumer by the offsets of their records. */
    public AdmissionStrategy byOffset(String consumer, TopicIdTracker topics, ConsumerObserver observer) {
        throw new UnsupportedOperationException();
    }

    /** The newest versions of entities. */
    public JdbcVersionStore versions() {
        return this.versions;
    }

    /** Recognises the messages of a consumer by the versions of entities. */
    public AdmissionStrategy byVersion(String consumer, ProcessedMessageStore store) {
        this.versionsUsed.run();
        return new VersionStrategy(consumer, this.versions, store);
    }

    @Override
    public void close() {
        this.versions.close();
    }
}
