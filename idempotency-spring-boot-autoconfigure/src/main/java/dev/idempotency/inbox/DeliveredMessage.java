package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * A message that a listener was called with.
 *
 * @param id its identity
 * @param coordinates where its record stood first
 * @param record the record that was delivered
 */
public record DeliveredMessage(MessageId id, RecordCoordinates coordinates, ConsumerRecord<?, ?> record) {}
