/** A PostgreSQL server and a Kafka broker inside the application, used unless others are configured. */
@NullMarked
package dev.idempotency.sample.embedded;

import org.jspecify.annotations.NullMarked;
