package dev.idempotency.build;

/** Where a dependency is visible, in words that belong to neither build. */
enum Scope {
    COMPILE,
    OPTIONAL,
    RUNTIME,
    TEST,
    PROCESSOR
}
