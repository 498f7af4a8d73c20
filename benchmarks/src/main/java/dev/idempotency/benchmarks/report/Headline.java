package dev.idempotency.benchmarks.report;

/**
 * A rate at the beginning of a report.
 *
 * @param listener the name of the listener
 * @param circumstances the durability of the database
 * @param rate messages per second
 * @param ratio the ratio to the raw listener
 */
public record Headline(String listener, String circumstances, Cell rate, Cell ratio) {}
