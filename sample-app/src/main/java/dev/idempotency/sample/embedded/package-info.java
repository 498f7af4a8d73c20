/** An embedded PostgreSQL server and Kafka broker, used unless others are configured. */
@NullMarked
package dev.idempotency.sample.embedded;

import org.jspecify.annotations.NullMarked;
