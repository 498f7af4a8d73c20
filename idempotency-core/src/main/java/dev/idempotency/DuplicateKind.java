package dev.idempotency;

/** Origin of a duplicate. */
public enum DuplicateKind {

    /** The same record was redelivered: the consumer crashed, was rebalanced, or rewound. */
    REDELIVERY,

    /** Another record with the same id came: the producer sent the message again. */
    REPUBLICATION,

    /** Either of them: a constraint of the application's own has refused the message, and says no more than that. */
    UNKNOWN
}
