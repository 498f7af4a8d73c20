/**
 * Ids for the messages that the {@code KafkaTemplate}s of the application send. Internal.
 */
@NullMarked
package dev.idempotency.internal.producer;

import org.jspecify.annotations.NullMarked;
