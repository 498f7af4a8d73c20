package dev.idempotency.sample.page;

/**
 * Counts of a consumer's messages since the application started.
 *
 * @param consumer its name
 * @param listener class and method
 * @param processed committed
 * @param redeliveries dropped, as Kafka delivered them again
 * @param republications dropped, as the producer sent them again
 * @param failed rolled back; they are redelivered
 */
record ConsumerCounts(
        String consumer, String listener, long processed, long redeliveries, long republications, long failed) {}
