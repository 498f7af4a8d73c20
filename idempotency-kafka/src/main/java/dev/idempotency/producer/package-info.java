/**
 * The producing side: ids for the messages that the application's {@code KafkaTemplate}s send. Public for the
 * auto-configuration alone; what users touch is {@link dev.idempotency.key.MessageIdHeader}.
 */
@NullMarked
package dev.idempotency.producer;

import org.jspecify.annotations.NullMarked;
