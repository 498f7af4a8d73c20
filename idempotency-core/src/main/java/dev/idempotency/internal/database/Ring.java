package dev.idempotency.internal.database;

import dev.idempotency.Claim;
import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.MessageId;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The tables that processed messages are in. With {@link RetentionMode#RING}, an id that carries its time is in one of
 * {@value #SLOTS} slots, chosen by that time alone; any other is in the table itself, from which the slots inherit.
 *
 * <p>The control row says how wide slots are, and how far an existing table has been switched; only ever forward. State
 * {@code both}: instances with and without the ring may run, and all ids are in the table; {@code drain}: ids with a time are
 * claimed in a slot unless the table has them from before; {@code ring}: the table has no more of them.
 */
public final class Ring {

    /** How many slots there are; they are numbered from zero. */
    public static final int SLOTS = 8;

    static final String CONTROL = "idempotency_ring";

    /**
     * UUIDs of version 7 and ULIDs, in upper or lower case, from 1970 to 2109. As in the script of the ring, where a trigger
     * keeps such ids out of the other table.
     */
    static final Pattern TIME_ID =
            Pattern.compile("0[0-3][0-9a-fA-F]{6}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}"
                    + "|0[0-3][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{24}");

    private static final String BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    /** In place of a slot: the table itself. It sorts last, and all claim in the order of slots. */
    private static final int NO_SLOT = SLOTS;

    private static final String BOTH = "both";
    private static final String DRAIN = "drain";
    static final String COMPLETE = "ring";

    private static final int LOCK_SECONDS = 5;

    /** Without rows there is nothing to switch. Who inserts an id with a time without the ring is refused from then on. */
    private static final String CREATE = """
            insert into %s (slots, width_ms, state)
            select ?, ?, case when exists (select 1 from only %s) then 'both' else 'ring' end
            on conflict do nothing
            """;

    private final IdempotencyDatabase database;
    private volatile @Nullable Layout layout;

    public Ring(IdempotencyDatabase database) {
        this.database = database;
    }

    /** The control row. */
    record Layout(int slots, long widthMillis, String state) {

        int slotAt(long millis) {
            return Math.floorMod(Math.floorDiv(millis, this.widthMillis), this.slots);
        }

        int slotOf(MessageId id) {
            long millis = this.state.equals(BOTH) ? -1 : millisOf(id.value());
            return (millis < 0) ? NO_SLOT : slotAt(millis);
        }
    }

    /**
     * Only the last state is remembered. Until then each transaction reads the state that it sees: one that began before a step
     * does not see all that was claimed until then, and must not take that step because others have.
     */
    private Layout layout() {
        Layout found = this.layout;
        if (found == null || !found.state().equals(COMPLETE)) {
            found = Objects.requireNonNull(this.database.inTransaction(this::find), "idempotency_ring has no row");
            this.layout = found;
        }
        return found;
    }

    private @Nullable Layout find(JdbcTemplate jdbc) {
        return DataAccessUtils.singleResult(jdbc.query(
                "select slots, width_ms, state from " + this.database.table(CONTROL),
                (row, number) -> new Layout(row.getInt(1), row.getLong(2), row.getString(3))));
    }

    /** Whether an id can only be in the table that it is claimed in. */
    public boolean isComplete() {
        return !this.database.isRing() || layout().state().equals(COMPLETE);
    }

    /** The slot of ids that are made at a time. */
    public int slotAt(long millis) {
        return layout().slotAt(millis);
    }

    private String tableAt(int slot) {
        return (slot == NO_SLOT) ? this.database.processedTable() : this.database.slotTable(slot);
    }

    /** Returns the milliseconds since the epoch that an id carries, or -1: a function of its text alone. */
    static long millisOf(String id) {
        if (id.isEmpty() || id.charAt(0) != '0' || !TIME_ID.matcher(id).matches()) {
            return -1;
        }
        return (id.charAt(8) == '-')
                ? Long.parseLong(id.substring(0, 8) + id.substring(9, 13), 16)
                : id.substring(0, 10)
                        .toUpperCase(Locale.ROOT)
                        .chars()
                        .mapToLong(BASE_32::indexOf)
                        .reduce(0, (time, digit) -> time * BASE_32.length() + digit);
    }

    /**
     * Claims messages in their tables, in the order of the slots, with one statement for each. If the next step of a switch is
     * taken meanwhile, the table's trigger refuses the claim, and the message is redelivered.
     *
     * @param in makes the statement for a table
     * @param find finds ids that are known; asked in state {@code drain}, in which the table gets no more of them
     */
    public ClaimStatement claims(
            Function<String, ClaimStatement> in, Function<List<MessageId>, Map<MessageId, ?>> find) {
        if (!this.database.isRing()) {
            return in.apply(this.database.processedTable());
        }
        List<ClaimStatement> statements = IntStream.rangeClosed(0, NO_SLOT)
                .mapToObj(slot -> in.apply(tableAt(slot)))
                .toList();
        return (connection, claims, timeoutSeconds) -> {
            Layout now = layout();
            if (claims.size() == 1 && !now.state().equals(DRAIN)) {
                int slot = now.slotOf(claims.get(0).id());
                return statements.get(slot).execute(connection, claims, timeoutSeconds);
            }
            ClaimDeadline deadline = new ClaimDeadline(timeoutSeconds);
            Map<MessageId, ?> known = now.state().equals(DRAIN)
                    ? find.apply(claims.stream().map(Claim::id).toList())
                    : Map.of();
            Map<Integer, List<Claim>> bySlot = claims.stream()
                    .filter(claim -> !known.containsKey(claim.id()))
                    .collect(Collectors.groupingBy(claim -> now.slotOf(claim.id()), TreeMap::new, Collectors.toList()));
            Set<MessageId> claimed = new HashSet<>(claims.size() * 2);
            for (Map.Entry<Integer, List<Claim>> slot : bySlot.entrySet()) {
                claimed.addAll(
                        statements.get(slot.getKey()).execute(connection, slot.getValue(), deadline.secondsLeft()));
            }
            return claimed;
        };
    }

    /** The table to look for an id in. */
    public String tableOf(MessageId id) {
        return tables().apply(id);
    }

    /** The tables to look for ids in, by one reading of the state: during a switch, all at once. */
    public Function<MessageId, String> tables() {
        if (!this.database.isRing()) {
            return id -> this.database.processedTableAlone();
        }
        Layout now = layout();
        if (!now.state().equals(COMPLETE)) {
            return id -> this.database.processedTable();
        }
        return id -> (now.slotOf(id) == NO_SLOT) ? this.database.processedTableAlone() : tableAt(now.slotOf(id));
    }

    /** Makes the control row, or compares it with the settings: a ring of another width is refused if the width is required. */
    void prepare(Duration width, boolean required) {
        this.database.newTransaction().executeWithoutResult(status -> {
            JdbcTemplate jdbc = this.database.jdbc(LOCK_SECONDS);
            if (find(jdbc) == null) {
                // Waits for claims that instances without the ring are about to commit.
                jdbc.execute("lock table only %s in share mode".formatted(this.database.processedTable()));
                jdbc.update(
                        CREATE.formatted(this.database.table(CONTROL), this.database.processedTable()),
                        SLOTS,
                        width.toMillis());
            }
        });
        Layout found = layout();
        if (found.slots() != SLOTS || (required && found.widthMillis() != width.toMillis())) {
            throw new IdempotencyConfigurationException(
                    "The ring has %d slots of %s, but this application uses %d slots of %s: an id would be in two tables."
                            .formatted(found.slots(), Duration.ofMillis(found.widthMillis()), SLOTS, width),
                    "Leave out idempotency.ring.width, or change it by docs/retention.md#changing-the-width.",
                    null);
        }
    }

    /** Refuses tables that are a ring, for an application that does not use them as one. */
    void requireNone() {
        if (!this.database.dialect().vendor().equals("postgresql")) {
            return;
        }
        Layout found = this.database.inTransaction(jdbc -> {
            String table = jdbc.queryForObject("select to_regclass(?)", String.class, this.database.table(CONTROL));
            return (table != null) ? find(jdbc) : null;
        });
        if (found != null && !found.state().equals(BOTH)) {
            throw new IdempotencyConfigurationException(
                    "The tables of idempotency-spring-boot are a ring (idempotency_ring.state is '%s'), but idempotency.retention-mode is 'delete': messages would be processed twice."
                            .formatted(found.state()),
                    "Set idempotency.retention-mode=ring, or move the rows back as docs/retention.md#back-to-one-table says.",
                    null);
        }
    }
}
