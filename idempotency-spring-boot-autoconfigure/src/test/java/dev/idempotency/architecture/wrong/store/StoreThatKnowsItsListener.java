package dev.idempotency.architecture.wrong.store;

import dev.idempotency.architecture.wrong.listener.ListenerThatKnowsItsStore;

/** Breaks the rule that no package imports one to its left, and closes a cycle. */
public record StoreThatKnowsItsListener(ListenerThatKnowsItsStore listener) {}
