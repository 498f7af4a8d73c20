package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.StoredVersion;
import dev.idempotency.database.VersionClaim;
import dev.idempotency.database.VersionStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PessimisticLockingFailureException;

/** The table of the newest versions of entities, on the connection of the current transaction. */
public final class JdbcVersionStore {

    private static final Comparator<VersionClaim> BY_ENTITY =
            Comparator.comparing(claim -> claim.entity().value());

    /** How often a version may be changed by others between two looks at it. */
    private static final int ROUNDS = 5;

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final @Nullable VersionStatement statement;
    private final ClaimTable<StoredVersion> table;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcVersionStore(IdempotencyDatabase database, Duration claimTimeout) {
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        this.statement = database.dialect().versionsIn(database.versionTable());
        this.table = new ClaimTable<>(
                database,
                database.versionTable(),
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
    record Answer(Map<MessageId, Optional<StoredVersion>> moved, Map<MessageId, StoredVersion> held) {}

    /** Whether the database's dialect knows how to compare versions. */
    public boolean isSupported() {
        return this.statement != null;
    }

    /**
     * Replaces the versions of entities in the current transaction, where they are newer. Waits for another transaction that
     * is about to replace one of them.
     *
     * @param claims claims of one consumer, with distinct entities
     */
    Answer move(List<VersionClaim> claims) {
        Map<MessageId, Optional<StoredVersion>> moved = new HashMap<>();
        Map<MessageId, StoredVersion> held = new HashMap<>();
        List<VersionClaim> open =
                (claims.size() > 1) ? claims.stream().sorted(BY_ENTITY).toList() : claims;
        for (int round = 0; round < ROUNDS; round++) {
            moved.putAll(execute(open));
            open = open.stream()
                    .filter(claim -> !moved.containsKey(claim.entity()))
                    .toList();
            open = open.isEmpty() ? open : refuse(open, held);
            if (open.isEmpty()) {
                return new Answer(moved, held);
            }
        }
        throw new PessimisticLockingFailureException(
                "The version of " + open.get(0).entity()
                        + " changes faster than it can be compared, or the transaction does not see what others have committed");
    }

    private Map<MessageId, Optional<StoredVersion>> execute(List<VersionClaim> claims) {
        VersionStatement moves =
                Objects.requireNonNull(this.statement, "The dialect does not know how to compare versions");
        VersionClaim first = claims.get(0);
        return this.transaction.execute(
                (connection, timeoutSeconds) -> moves.execute(connection, claims, timeoutSeconds),
                () -> ClaimTransaction.describe(first.entity(), first.coordinates(), claims.size()));
    }

    /** Finds out why claims were refused; returns those whose row is gone by now, or was not there to be seen. */
    private List<VersionClaim> refuse(List<VersionClaim> refused, Map<MessageId, StoredVersion> held) {
        Map<MessageId, StoredVersion> found = this.table.findCurrent(
                refused.stream().map(VersionClaim::entity).toList());
        List<VersionClaim> open = new ArrayList<>();
        for (VersionClaim claim : refused) {
            StoredVersion stored = found.get(claim.entity());
            if (stored == null || stored.isOlderThan(claim.version())) {
                open.add(claim);
            } else {
                held.put(claim.entity(), stored);
            }
        }
        return open;
    }

    /** Returns the version of a claim's entity, without a lock, if it is beyond doubt that the claim would be refused. */
    @Nullable
    StoredVersion findRefusing(VersionClaim claim) {
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
        return StoreExceptionTranslator.attempt(
                () -> "ask whether consumer '" + consumer + "' has processed any message",
                () -> this.table.hasAny(consumer));
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
