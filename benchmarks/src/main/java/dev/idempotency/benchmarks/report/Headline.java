package dev.idempotency.benchmarks.report;

/**
 * A rate that a report begins with.
 *
 * @param listener whose
 * @param circumstances of the database
 * @param rate messages per second
 * @param ratio to the raw listener
 */
public record Headline(String listener, String circumstances, Cell rate, Cell ratio) {}
