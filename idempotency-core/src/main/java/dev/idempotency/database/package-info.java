/**
 * Dialects, tables, schema and migration of the library's own tables.
 *
 * <p>Internal, except for {@link dev.idempotency.database.SchemaMode}, the values of a property.
 */
@NullMarked
package dev.idempotency.database;

import org.jspecify.annotations.NullMarked;
