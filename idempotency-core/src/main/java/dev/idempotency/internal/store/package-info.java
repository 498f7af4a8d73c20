/**
 * Claims in the database, and the transaction that claims and work share. Internal.
 */
@NullMarked
package dev.idempotency.internal.store;

import org.jspecify.annotations.NullMarked;
