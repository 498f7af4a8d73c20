/**
 * Auto-configurations and their properties. Both are public for users: to exclude the ones, and to read the others.
 */
@NullMarked
package dev.idempotency.autoconfigure;

import org.jspecify.annotations.NullMarked;
