package dev.idempotency.database;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** What Flyway has written down of the scripts that have run, read without Flyway, which takes a while to start. */
final class MigrationHistory {

    static final String TABLE = "idempotency_schema_history";

    private static final String ENTRIES = "select %1$sversion%1$s, %1$stype%1$s, %1$ssuccess%1$s from %2$s";

    private final IdempotencyDatabase database;
    private final JdbcTemplate jdbc;
    private final String entries;

    MigrationHistory(IdempotencyDatabase database) {
        this.database = database;
        this.jdbc = database.jdbc();
        String quote = database.dialect().identifierQuote();
        this.entries = ENTRIES.formatted(quote, database.table(quote + TABLE + quote));
    }

    boolean exists() {
        return read() != null;
    }

    /**
     * Whether all scripts are known to have run, by Flyway or before it. Their names and contents differ between
     * releases. That is not known to a user who may not read it, while another one migrates.
     */
    boolean isComplete() {
        List<Entry> entries;
        try {
            entries = read();
        } catch (DataAccessException ex) {
            if (WriteProbe.denial(ex) == null) {
                throw ex;
            }
            return false;
        }
        return entries != null
                && SchemaScript.ALL.stream()
                        .allMatch(script -> entries.stream().anyMatch(entry -> entry.covers(script.version())));
    }

    /** Whether a script stopped half-way. */
    boolean isBroken() {
        List<Entry> entries = read();
        return entries != null
                && SchemaScript.ALL.stream()
                        .anyMatch(script -> entries.stream().anyMatch(entry -> entry.broke(script.version())));
    }

    /** What is in the history, or {@code null} if there is none. */
    private @Nullable List<Entry> read() {
        return SchemaScript.findIfThere(
                this.database,
                () -> this.jdbc.query(
                        this.entries,
                        (row, number) -> new Entry(row.getString(1), row.getString(2), row.getBoolean(3))));
    }

    private record Entry(@Nullable String version, String type, boolean success) {

        boolean covers(int script) {
            return this.success && (is(script) || isBaselineFrom(script));
        }

        boolean broke(int script) {
            return !this.success && is(script);
        }

        private boolean is(int script) {
            return Integer.toString(script).equals(this.version);
        }

        private boolean isBaselineFrom(int script) {
            return this.type.equals("BASELINE") && this.version != null && Integer.parseInt(this.version) >= script;
        }
    }
}
