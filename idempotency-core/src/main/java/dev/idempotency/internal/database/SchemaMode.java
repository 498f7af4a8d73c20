package dev.idempotency.internal.database;

/** Says whether the tables are created or checked at start-up. */
public enum SchemaMode {

    /** Migrate them with Flyway. */
    MIGRATE,

    /** Fail, with the SQL that is missing, unless they are there. */
    VALIDATE,

    /** Nothing. */
    NONE
}
