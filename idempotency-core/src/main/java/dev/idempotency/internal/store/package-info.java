/**
 * Claims in the database, the transaction that claims and work share, and locks of business keys in it. Internal.
 */
@NullMarked
package dev.idempotency.internal.store;

import org.jspecify.annotations.NullMarked;
