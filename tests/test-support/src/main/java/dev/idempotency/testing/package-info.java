/** Real servers for tests: PostgreSQL, MariaDB and Kafka, one of each per JVM, started at the first use. */
@NullMarked
package dev.idempotency.testing;

import org.jspecify.annotations.NullMarked;
