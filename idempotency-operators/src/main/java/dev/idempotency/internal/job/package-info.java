/** Background work: jobs that an operator starts for a consumer, and work that is repeated. Internal. */
@NullMarked
package dev.idempotency.internal.job;

import org.jspecify.annotations.NullMarked;
