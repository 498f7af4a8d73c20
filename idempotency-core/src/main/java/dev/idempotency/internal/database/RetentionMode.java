package dev.idempotency.internal.database;

/** How processed messages are forgotten. */
public enum RetentionMode {

    /** Old rows are deleted. */
    DELETE,

    /** Ids that carry their time are kept in a ring of tables, each of which is emptied at once. PostgreSQL only. */
    RING
}
