package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.internal.database.Ring.Layout;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Claims messages in the slots of a ring: one statement for each slot, in their order. */
public final class RingClaims implements ClaimStatement {

    private final Ring ring;
    private final IdempotencyDatabase database;

    /** By slot; the last one is for ids that have none. */
    private final List<ClaimStatement> statements;

    public RingClaims(IdempotencyDatabase database) {
        this.ring = new Ring(database);
        this.database = database;
        this.statements = IntStream.rangeClosed(0, Ring.NO_SLOT)
                .mapToObj(slot -> database.dialect().claimIn(this.ring.tableAt(slot)))
                .toList();
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        Layout layout = this.ring.layout();
        ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
        Map<Integer, List<Claim>> bySlot = claims.stream()
                .collect(Collectors.groupingBy(claim -> layout.slotOf(claim.id()), TreeMap::new, Collectors.toList()));
        Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
        for (Map.Entry<Integer, List<Claim>> entry : bySlot.entrySet()) {
            ClaimStatement statement = statementFor(entry.getKey(), layout.state());
            claimed.addAll(statement.execute(connection, entry.getValue(), deadline.secondsLeft()));
        }
        return claimed;
    }

    private ClaimStatement statementFor(int slot, String state) {
        if (slot == Ring.NO_SLOT || state.equals(Ring.COMPLETE)) {
            return this.statements.get(slot);
        }
        ClaimStatement unlessInTable =
                new PostgresStatements.Claims(this.database.slotTable(slot), this.database.processedTable());
        if (!state.equals(Ring.BOTH)) {
            return unlessInTable;
        }
        // If the next step is taken meanwhile, the table's trigger refuses the claim, and the message is redelivered.
        return (connection, claims, seconds) -> {
            Set<MessageId> free = unlessInTable.execute(connection, claims, seconds);
            List<Claim> rest =
                    claims.stream().filter(claim -> free.contains(claim.id())).toList();
            return rest.isEmpty() ? free : this.statements.get(Ring.NO_SLOT).execute(connection, rest, seconds);
        };
    }
}
