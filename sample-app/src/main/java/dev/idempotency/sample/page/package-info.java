/** What the page shows, and the buttons on it. */
@NullMarked
package dev.idempotency.sample.page;

import org.jspecify.annotations.NullMarked;
