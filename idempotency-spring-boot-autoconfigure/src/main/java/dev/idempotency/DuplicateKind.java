package dev.idempotency;

/** Whose doing a duplicate is. */
public enum DuplicateKind {

    /** The very record that was processed came again: the consumer crashed, was rebalanced, or rewound. */
    REDELIVERY,

    /** Another record with the same id came: the producer sent the message again. */
    REPUBLICATION
}
