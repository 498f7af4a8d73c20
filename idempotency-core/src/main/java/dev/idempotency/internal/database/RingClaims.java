package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.internal.database.Ring.Layout;
import dev.idempotency.internal.database.Ring.State;
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
    private final List<ClaimStatement> inSlots;
    private final List<ClaimStatement> unlessInTable;
    private final ClaimStatement inTable;

    public RingClaims(IdempotencyDatabase database) {
        String table = database.processedTable();
        this.ring = new Ring(database);
        this.inSlots = IntStream.range(0, Ring.SLOTS)
                .mapToObj(slot -> database.dialect().claimIn(database.slotTable(slot)))
                .toList();
        this.unlessInTable = IntStream.range(0, Ring.SLOTS)
                .<ClaimStatement>mapToObj(slot -> new PostgresStatements.Claims(database.slotTable(slot), table))
                .toList();
        this.inTable = database.dialect().claimIn(table);
    }

    @Override
    public Set<MessageId> execute(Connection connection, List<Claim> claims, int timeoutSeconds) throws SQLException {
        Layout layout = this.ring.currentLayout();
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

    private ClaimStatement statementFor(int slot, State state) {
        if (slot == Ring.NO_SLOT) {
            return this.inTable;
        }
        return switch (state) {
            case BOTH -> (connection, claims, seconds) -> inBoth(slot, connection, claims, seconds);
            case DRAIN -> this.unlessInTable.get(slot);
            case RING -> this.inSlots.get(slot);
        };
    }

    /** If the next step is taken meanwhile, the table's trigger refuses the claim, and the message is redelivered. */
    private Set<MessageId> inBoth(int slot, Connection connection, List<Claim> claims, int seconds)
            throws SQLException {
        Set<MessageId> free = this.unlessInTable.get(slot).execute(connection, claims, seconds);
        List<Claim> rest =
                claims.stream().filter(claim -> free.contains(claim.id())).toList();
        return rest.isEmpty() ? Set.of() : this.inTable.execute(connection, rest, seconds);
    }
}
