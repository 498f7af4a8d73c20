package dev.idempotency.internal.dedup;

import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PostgresTransactionState;
import dev.idempotency.internal.database.UniqueConstraint;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.store.ClaimTransaction;
import dev.idempotency.internal.store.JdbcPositionStore;
import dev.idempotency.internal.store.JdbcVersionStore;
import java.time.Duration;
import org.springframework.jdbc.core.ConnectionCallback;

/** Creates strategies whose claims wait for another transaction at most for the timeout. */
public record JdbcStrategyFactory(
        IdempotencyDatabase database, Duration claimTimeout, JdbcPositionStore positions, JdbcVersionStore versions) {

    public ClaimStrategy byOffset(String consumer, TopicIdTracker topics, IdempotencyEventListener observer) {
        return new OffsetStrategy(consumer, this.positions, topics, observer);
    }

    /** Returns whether the database tells which constraint was violated. */
    public boolean isUniqueConstraintSupported() {
        return this.database.inTransaction(
                jdbc -> jdbc.execute((ConnectionCallback<Boolean>) PostgresTransactionState::remembersFailures));
    }

    public ClaimStrategy byIdAtCommit(MessageIdStrategy claimFirst) {
        return new ClaimAtCommitStrategy(claimFirst, this.database, this.claimTimeout);
    }

    /** Finds a constraint of the application's, or throws an {@link IllegalArgumentException} if it cannot tell duplicates. */
    public UniqueConstraint findUniqueConstraint(String name) {
        return this.database.inTransaction(jdbc -> UniqueConstraint.find(name, jdbc));
    }

    public ClaimStrategy byUniqueConstraint(UniqueConstraint constraint) {
        return new UniqueConstraintStrategy(
                constraint, this.database, new ClaimTransaction(this.database, this.claimTimeout));
    }

    public ClaimStrategy byVersion() {
        return new VersionStrategy(this.versions);
    }
}
