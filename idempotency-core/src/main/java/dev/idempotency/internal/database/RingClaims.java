package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.internal.database.Ring.Layout;
import dev.idempotency.internal.database.Ring.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Claims messages in the slots of a ring: one statement for each slot, in their order. */
public final class RingClaims implements ClaimStatement {

    /**
     * Claims in the table what was free in its slot. If the next step of the switch has been taken, the table only must not
     * have it. The state is read with each statement, as instances need not be restarted for that step.
     */
    private static final String IN_TABLE = """
            with claim as materialized (
                select *
                from unnest(
                        cast(? as varchar[]), cast(? as varchar[]), cast(? as integer[]), cast(? as bigint[]),
                        cast(? as bigint[]))
                    as claim (message_id, record_topic, record_partition, record_offset, payload_digest)
            ), step as materialized (
                select coalesce((select state from %2$s), 'both') as state
            ), inserted as (
                insert into %1$s (
                    consumer_id, message_id, record_topic, record_partition, record_offset, payload_digest
                )
                select ?, claim.*
                from claim, step
                where step.state = 'both'
                order by claim.message_id collate "C"
                on conflict do nothing
                returning message_id
            )
            select message_id from inserted
            union all
            select message_id
            from claim, step
            where step.state <> 'both' and not exists (
                select 1 from only %1$s old where old.consumer_id = ? and old.message_id = claim.message_id)
            """;

    private final Ring ring;
    private final String table;
    private final String inTable;
    private final Map<Integer, ClaimStatement> statements = new ConcurrentHashMap<>();
    private final Dialect dialect;

    public RingClaims(IdempotencyDatabase database, Ring ring) {
        this.ring = ring;
        this.table = database.processedTable();
        this.inTable = IN_TABLE.formatted(this.table, database.table(Ring.CONTROL));
        this.dialect = database.dialect();
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        Layout layout = this.ring.layout();
        ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
        TreeMap<Integer, List<Claim>> bySlot = layout.bySlot(claims, Claim::id);
        Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
        for (Map.Entry<Integer, List<Claim>> entry : bySlot.entrySet()) {
            ClaimStatement statement =
                    this.statements.computeIfAbsent(entry.getKey(), slot -> statementFor(slot, layout.state()));
            claimed.addAll(statement.execute(connection, entry.getValue(), deadline.secondsLeft()));
        }
        return claimed;
    }

    private ClaimStatement statementFor(int slot, State state) {
        String slotTable = this.ring.tableOf(slot);
        if (state == State.RING || slotTable.equals(this.table)) {
            return this.dialect.claimIn(slotTable);
        }
        ClaimStatement unlessInTable = new PostgresStatements.Claims(slotTable, this.table);
        return (state == State.DRAIN)
                ? unlessInTable
                : (connection, claims, seconds) -> {
                    Set<MessageId> free = unlessInTable.execute(connection, claims, seconds);
                    return inTable(
                            connection,
                            claims.stream()
                                    .filter(claim -> free.contains(claim.id()))
                                    .toList(),
                            seconds);
                };
    }

    private Set<MessageId> inTable(Connection connection, List<Claim> free, int seconds) throws SQLException {
        Set<MessageId> claimed = new HashSet<>();
        if (free.isEmpty()) {
            return claimed;
        }
        String consumer = free.get(0).id().consumer();
        try (PreparedStatement statement = connection.prepareStatement(this.inTable)) {
            statement.setQueryTimeout(seconds);
            PostgresStatements.Claims.setArrays(statement, 1, free);
            statement.setString(6, consumer);
            statement.setString(7, consumer);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    claimed.add(new MessageId(consumer, rows.getString(1)));
                }
            }
        }
        return claimed;
    }
}
