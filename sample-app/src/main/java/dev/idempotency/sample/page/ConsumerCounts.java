package dev.idempotency.sample.page;

/**
 * Counts of a consumer's messages since the application started.
 *
 * @param consumer the name of the consumer
 * @param listener class and method of the listener
 * @param processed committed messages
 * @param redeliveries duplicates that Kafka delivered again
 * @param republications duplicates that the producer sent again
 * @param failed attempts that were rolled back; their messages are redelivered
 */
record ConsumerCounts(
        String consumer, String listener, long processed, long redeliveries, long republications, long failed) {}
