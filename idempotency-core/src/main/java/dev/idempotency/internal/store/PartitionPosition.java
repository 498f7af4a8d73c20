package dev.idempotency.internal.store;

import java.time.Instant;

/** Up to where a consumer has processed a partition: all records before {@code nextOffset}, or they were dead-lettered. */
public record PartitionPosition(String topic, int partition, String topicId, long nextOffset, Instant processedAt) {}
