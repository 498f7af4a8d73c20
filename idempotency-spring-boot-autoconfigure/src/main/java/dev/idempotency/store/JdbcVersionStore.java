package dev.idempotency.store;

import dev.idempotency.MessageId;
import dev.idempotency.database.Dialect;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.database.StoredVersion;
import dev.idempotency.database.VersionClaim;
import dev.idempotency.database.VersionColumns;
import dev.idempotency.database.VersionStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

/** The table of the newest versions of entities, on the connection of the current transaction. */
public final class JdbcVersionStore {

    private static final Comparator<VersionClaim> BY_ENTITY =
            Comparator.comparing(claim -> claim.entity().value());

    private static final int ENTITIES_PER_QUERY = 500;

    /** How often a version may be changed by others between two looks at it. */
    private static final int ROUNDS = 5;

    private static final String FIND = """
            select message_id, %s
            from %s
            where consumer_id = ? and message_id in (%%s)
            """;

    private static final String DELETE = "delete from %s where consumer_id = ? and message_id = ?";

    private final IdempotencyDatabase database;
    private final ClaimTransaction transaction;
    private final @Nullable VersionStatement statement;
    private final String find;
    private final String findCurrent;
    private final String delete;
    private final StoreStatisticsReader statistics;

    /** {@code claimTimeout} is how long a claim may wait for another transaction. */
    public JdbcVersionStore(IdempotencyDatabase database, Duration claimTimeout) {
        Dialect dialect = database.dialect();
        String table = database.versionTable();
        this.database = database;
        this.transaction = new ClaimTransaction(database, claimTimeout);
        this.statement = dialect.versionsIn(table);
        this.find = FIND.formatted(VersionColumns.of(dialect), table);
        this.findCurrent = this.find + ((this.statement != null) ? this.statement.currentRead() : "");
        this.delete = DELETE.formatted(table);
        this.statistics = new StoreStatisticsReader(database, table, database.versionEstimate());
    }

    /**
     * The answer to claims.
     *
     * @param moved the entities that have the claimed version now, with what they had before where that was asked for
     * @param held what the others have, which is not older, or does not compare
     */
    record Answer(Map<MessageId, Optional<StoredVersion>> moved, Map<MessageId, StoredVersion> held) {}

    /** Whether the database's dialect knows how to compare versions. */
    public boolean isSupported() {
        return this.statement != null;
    }

    /**
     * Moves the versions of entities on in the current transaction, where they are newer. Waits for another transaction that
     * is about to move one of them.
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

    /** Finds out why claims were refused; returns those whose row is gone by now, or was not there to be seen. */
    private List<VersionClaim> refuse(List<VersionClaim> refused, Map<MessageId, StoredVersion> held) {
        Map<MessageId, StoredVersion> found =
                find(refused.stream().map(VersionClaim::entity).toList(), this.findCurrent);
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

    /**
     * The version of a claim's entity, if it is beyond doubt that the claim would be refused; see
     * {@link VersionStatement#findFirst}.
     */
    @Nullable
    StoredVersion findRefusing(VersionClaim claim) {
        VersionStatement finds = statement();
        StoredVersion stored = this.transaction.execute(
                (connection, timeoutSeconds) -> finds.findFirst(connection, claim.entity(), timeoutSeconds),
                () -> ClaimTransaction.describe(claim.entity(), claim.coordinates(), 1));
        return (stored != null && !stored.isOlderThan(claim.version())) ? stored : null;
    }

    private Map<MessageId, Optional<StoredVersion>> execute(List<VersionClaim> claims) {
        VersionStatement moves = statement();
        VersionClaim first = claims.get(0);
        return this.transaction.execute(
                (connection, timeoutSeconds) -> moves.execute(connection, claims, timeoutSeconds),
                () -> ClaimTransaction.describe(first.entity(), first.coordinates(), claims.size()));
    }

    private VersionStatement statement() {
        if (this.statement == null) {
            throw new IllegalStateException(
                    this.database.dialect().getClass().getName() + " does not know how to compare versions");
        }
        return this.statement;
    }

    /** The newest versions of entities of one consumer, as far as they are known. */
    public Map<MessageId, StoredVersion> find(Collection<MessageId> entities) {
        return find(entities, this.find);
    }

    private Map<MessageId, StoredVersion> find(Collection<MessageId> entities, String sql) {
        List<MessageId> all = new ArrayList<>(entities);
        return this.database.inTransaction(template -> {
            Map<MessageId, StoredVersion> found = new HashMap<>();
            for (int from = 0; from < all.size(); from += ENTITIES_PER_QUERY) {
                find(all.subList(from, Math.min(from + ENTITIES_PER_QUERY, all.size())), sql, found, template);
            }
            return found;
        });
    }

    private static void find(
            List<MessageId> entities, String sql, Map<MessageId, StoredVersion> found, JdbcTemplate template) {
        String consumer = entities.get(0).consumer();
        Stream<String> values = entities.stream().map(MessageId::value);
        template.query(
                sql.formatted("?" + ", ?".repeat(entities.size() - 1)),
                row -> {
                    MessageId entity = new MessageId(consumer, row.getString(1));
                    found.put(entity, VersionColumns.read(entity, row, 2));
                },
                Stream.concat(Stream.of(consumer), values).toArray());
    }

    /** Returns whether any entity of a consumer is known. */
    public boolean hasProcessed(String consumer) {
        return StoreExceptionTranslator.attempt(
                () -> "ask whether consumer '" + consumer + "' has processed any message",
                () -> statistics(List.of(consumer)).oldestAges().containsKey(consumer));
    }

    /**
     * Forgets an entity, so that any version of it can be processed.
     *
     * @return whether it had been known
     */
    public boolean forget(MessageId entity) {
        return this.database.inTransaction(
                template -> template.update(this.delete, entity.consumer(), entity.value()) > 0);
    }

    /** How many entities are known, estimated, and how old the oldest is of these consumers. */
    public StoreStatistics statistics(Collection<String> consumers) {
        return this.statistics.read(consumers);
    }
}
