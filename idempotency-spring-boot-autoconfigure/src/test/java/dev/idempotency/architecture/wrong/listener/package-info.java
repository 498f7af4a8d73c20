/** The one package here that breaks no rule by itself. */
@NullMarked
package dev.idempotency.architecture.wrong.listener;

import org.jspecify.annotations.NullMarked;
