/** Shared by the tools of operators: pages of what they find, and the state of what they start. */
@NullMarked
package dev.idempotency.job;

import org.jspecify.annotations.NullMarked;
