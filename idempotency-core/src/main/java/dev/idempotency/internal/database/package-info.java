/**
 * Dialects, tables, schema and migration. Internal.
 */
@NullMarked
package dev.idempotency.internal.database;

import org.jspecify.annotations.NullMarked;
