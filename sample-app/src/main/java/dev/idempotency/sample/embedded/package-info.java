/** A PostgreSQL server and a Kafka broker inside the application, for whoever names none. */
@NullMarked
package dev.idempotency.sample.embedded;

import org.jspecify.annotations.NullMarked;
