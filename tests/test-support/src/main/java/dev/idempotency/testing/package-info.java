/** Real servers for tests: one PostgreSQL and one Kafka broker a JVM, started when first asked for. */
@NullMarked
package dev.idempotency.testing;

import org.jspecify.annotations.NullMarked;
