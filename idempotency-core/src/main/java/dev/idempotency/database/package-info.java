/**
 * Dialects, tables, schema and migration of the library's own tables.
 *
 * <p>For users: {@link dev.idempotency.database.Dialect}, to be implemented for a database that is not known here, with the
 * statements that it returns, {@link dev.idempotency.database.IdempotencyDatabase}, for those who make a store themselves,
 * and {@link dev.idempotency.database.SchemaMode}, the values of a property. What else is public is for other packages of
 * the library.
 */
@NullMarked
package dev.idempotency.database;

import org.jspecify.annotations.NullMarked;
