/** The claim: which messages have been processed, kept in one table, with one dialect per database. */
@NullMarked
package dev.idempotency.store;

import org.jspecify.annotations.NullMarked;
