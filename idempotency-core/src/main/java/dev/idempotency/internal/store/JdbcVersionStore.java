package dev.idempotency.internal.store;

import dev.idempotency.MessageId;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.StoredVersion;
import dev.idempotency.internal.database.VersionClaim;
import dev.idempotency.internal.database.VersionStatement;
import dev.idempotency.store.StoreStatistics;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PessimisticLockingFailureException;

/** The table of the newest versions of entities, on the connection of the current transaction. */
public final class JdbcVersionStore {

    private static final Comparator<VersionClaim> BY_ENTITY =
            Comparator.comparing(claim -> claim.entity().value());

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final VersionStatement statement;
    private final ClaimTable<StoredVersion> table;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcVersionStore(IdempotencyDatabase database, Duration claimTimeout) {
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        String versions = database.versionTable();
        this.statement = database.dialect().versionsIn(versions);
        this.table = new ClaimTable<>(
                database,
                versions,
                () -> id -> versions,
                versions,
                StoredVersion.columns(
                        database.dialect()::secondsOf, database.dialect().now()),
                StoredVersion::read,
                database.versionEstimate());
    }

    /**
     * The answer to claims.
     *
     * @param moved the entities that have the claimed version now, with what they had before
     * @param held what the others have, which is not older, or does not compare
     */
    public record Answer(Map<MessageId, Optional<StoredVersion>> moved, Map<MessageId, StoredVersion> held) {}

    /**
     * Replaces the versions of entities in the current transaction, where they are newer. Waits for another transaction that
     * is about to replace one of them.
     */
    public Answer move(List<VersionClaim> claims) {
        List<VersionClaim> sorted =
                (claims.size() > 1) ? claims.stream().sorted(BY_ENTITY).toList() : claims;
        VersionClaim first = sorted.get(0);
        Map<MessageId, Optional<StoredVersion>> moved = this.transaction.execute(
                (connection, timeoutSeconds) -> this.statement.execute(connection, sorted, timeoutSeconds),
                () -> ClaimTransaction.describe(first.entity(), first.coordinates(), sorted.size()));
        List<VersionClaim> refused = sorted.stream()
                .filter(claim -> !moved.containsKey(claim.entity()))
                .toList();
        return new Answer(moved, refused.isEmpty() ? Map.of() : findHeld(refused));
    }

    private Map<MessageId, StoredVersion> findHeld(List<VersionClaim> refused) {
        Map<MessageId, StoredVersion> held = this.table.findCurrent(
                refused.stream().map(VersionClaim::entity).toList());
        for (VersionClaim claim : refused) {
            StoredVersion stored = held.get(claim.entity());
            if (stored == null || stored.isOlderThan(claim.version())) {
                throw new PessimisticLockingFailureException("The version of " + claim.entity()
                        + " was changed concurrently, or the transaction does not see what others have committed");
            }
        }
        return held;
    }

    /** Returns the version of a claim's entity, without a lock, if it is beyond doubt that the claim would be refused. */
    public @Nullable StoredVersion findRefusing(VersionClaim claim) {
        if (!this.database.dialect().mayReadBeforeClaim()) {
            return null;
        }
        StoredVersion stored = this.table
                .find(List.of(claim.entity()), "", this.transaction.lookUps())
                .get(claim.entity());
        return (stored != null && !stored.isOlderThan(claim.version())) ? stored : null;
    }

    /** The newest versions of entities of one consumer, as far as they are known. */
    public Map<MessageId, StoredVersion> find(Collection<MessageId> entities) {
        return this.table.find(entities);
    }

    /** Returns whether any entity of a consumer is known. */
    public boolean hasProcessed(String consumer) {
        return this.table.hasAny(consumer);
    }

    /**
     * Forgets an entity, so that any version of it can be processed.
     *
     * @return whether it had been known
     */
    public boolean forget(MessageId entity) {
        return this.database.inTransaction(jdbc -> this.table.delete(entity, jdbc));
    }

    /** How many entities are known, estimated, and how old the oldest is of these consumers. */
    public StoreStatistics statistics(Collection<String> consumers) {
        return this.table.statistics(consumers);
    }
}
