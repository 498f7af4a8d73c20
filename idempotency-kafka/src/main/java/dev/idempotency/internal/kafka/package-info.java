/**
 * Kafka and Spring Kafka as they are: records as received, raw producers, connections, ids of topics, and the private
 * members that are read. Internal.
 */
@NullMarked
package dev.idempotency.internal.kafka;

import org.jspecify.annotations.NullMarked;
