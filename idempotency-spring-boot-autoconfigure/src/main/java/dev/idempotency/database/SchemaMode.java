package dev.idempotency.database;

/** What is done about the tables at start-up. */
public enum SchemaMode {

    /** Migrate them with Flyway. */
    MIGRATE,

    /** Fail, with the SQL that is missing, unless they are there. */
    VALIDATE,

    /** Nothing. */
    NONE
}
