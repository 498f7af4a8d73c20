package dev.idempotency.architecture.wrong.elsewhere;

/** Lives in a package that the design does not name. */
interface Stranger {}
