/** Dialects, tables, schema and migration of the library's own tables. */
@NullMarked
package dev.idempotency.database;

import org.jspecify.annotations.NullMarked;
