package dev.idempotency.database;

import java.util.List;

/** What an application does with the library's tables, beside claiming messages; its user must be allowed to. */
public enum TableUse {

    /** Old rows are removed, of all tables that are used. */
    CLEANUP,

    /** A listener has an inbox. */
    INBOX(IdempotencyDatabase.INBOX),

    /** Results are kept. */
    RESULTS(IdempotencyDatabase.RESULT),

    /** A listener has positions. */
    POSITIONS(IdempotencyDatabase.POSITION),

    /** A listener compares versions. */
    VERSIONS(IdempotencyDatabase.VERSION);

    private final List<String> tables;

    TableUse(String... tables) {
        this.tables = List.of(tables);
    }

    /** The tables that nobody else uses. */
    List<String> tables() {
        return this.tables;
    }
}
