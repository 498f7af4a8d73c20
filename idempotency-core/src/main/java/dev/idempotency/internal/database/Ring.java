package dev.idempotency.internal.database;

import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.MessageId;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The tables that processed messages are in. With {@link RetentionMode#RING}, an id that carries its time is in one of
 * {@value #SLOTS} slots, chosen by that time alone; any other is in the table itself, from which the slots inherit.
 *
 * <p>The control row says how wide slots are, and how far an existing table has been switched; only ever forward. State
 * {@code both}: instances without the ring may run, and ids with a time are claimed in a slot and in the table; {@code drain}:
 * they are claimed in a slot unless the table has them from before; {@code ring}: the table has no more of them.
 */
public final class Ring {

    /** How many slots there are; they are numbered from zero. */
    public static final int SLOTS = 8;

    static final String CONTROL = "idempotency_ring";

    /** In place of a slot: the table itself. It sorts last, and all claim in the order of slots. */
    static final int NO_SLOT = SLOTS;

    static final String BOTH = "both";
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
            long millis = TimeId.millisOf(id.value());
            return (millis < 0) ? NO_SLOT : slotAt(millis);
        }
    }

    /** Read in the present transaction while the next step of a switch concerns claims, and may be taken at any time. */
    Layout layout() {
        Layout known = this.layout;
        if (known == null || known.state().equals(BOTH)) {
            known = Objects.requireNonNull(this.database.inTransaction(this::find), "idempotency_ring has no row");
            this.layout = known;
        }
        return known;
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

    /** The table that an id is claimed in. */
    public String claimTableOf(MessageId id) {
        return tableAt(this.database.isRing() ? layout().slotOf(id) : NO_SLOT);
    }

    String tableAt(int slot) {
        return (slot == NO_SLOT) ? this.database.processedTable() : this.database.slotTable(slot);
    }

    /** The table to look for an id in: during a switch, all of them. */
    public String tableOf(MessageId id) {
        if (!isComplete()) {
            return this.database.processedTable();
        }
        String table = claimTableOf(id);
        return table.equals(this.database.processedTable()) ? this.database.processedTableAlone() : table;
    }

    /**
     * Makes the control row if there is none yet, and compares it with the settings.
     *
     * @param width the width of slots in a new ring
     * @param required whether that was set, so that a ring of another width is refused
     */
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
