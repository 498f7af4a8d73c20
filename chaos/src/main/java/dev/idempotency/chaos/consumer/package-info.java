/** The application under test, in separate JVMs: listeners of every kind, and ways to sabotage them. */
@NullMarked
package dev.idempotency.chaos.consumer;

import org.jspecify.annotations.NullMarked;
