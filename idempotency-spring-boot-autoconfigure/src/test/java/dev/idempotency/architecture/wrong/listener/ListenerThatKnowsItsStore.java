package dev.idempotency.architecture.wrong.listener;

import dev.idempotency.architecture.wrong.store.StoreThatKnowsItsListener;

/** Looks to its right, as it may. */
public record ListenerThatKnowsItsStore(StoreThatKnowsItsListener store) {}
