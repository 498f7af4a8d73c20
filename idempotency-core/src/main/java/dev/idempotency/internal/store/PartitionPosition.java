package dev.idempotency.internal.store;

import java.time.Instant;

/**
 * Up to where a consumer has processed a partition.
 *
 * @param topic the topic's name
 * @param partition the partition
 * @param topicId the id that Kafka gave the topic
 * @param nextOffset the offset before which all records have been processed or dead-lettered
 * @param processedAt when it was moved, by the database's clock
 */
public record PartitionPosition(String topic, int partition, String topicId, long nextOffset, Instant processedAt) {}
