/** The application under test, in separate JVMs: listeners of every kind, and built-in faults for testing the checker. */
@NullMarked
package dev.idempotency.chaos.consumer;

import org.jspecify.annotations.NullMarked;
