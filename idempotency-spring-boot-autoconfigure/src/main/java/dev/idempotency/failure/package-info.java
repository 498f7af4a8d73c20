/**
 * What becomes of messages that fail: classification, waiting for what is away, retries and dead letters.
 *
 * <p>For users are {@link dev.idempotency.failure.FailureClassifier} with {@link dev.idempotency.failure.FailureKind} and
 * {@link dev.idempotency.failure.DatabaseFailureClassifier}, which is the default; and the bean {@link
 * dev.idempotency.failure.OutageRegistry}, which lists each {@link dev.idempotency.failure.ConsumerOutage}. All else that
 * is public is so for other packages of this library.
 *
 * <p>A failure's walk:
 *
 * <ol>
 *   <li>The listener, the claim or the commit throws. The transaction is rolled back, and claim and work with it. A
 *       listener's inbox records the failure, unless it is an outage.
 *   <li>The container calls its error handler, which is always an {@code OutageErrorHandler} around the application's or
 *       the provided one. What fails in a poll, before a record is delivered, goes to the {@code PollFailureHandler}, which has what was not delivered come again.
 *   <li>{@code DeliveryContext} knows whether the records were committed all the same, and only what follows has failed.
 *       Then they come again after a pause, and are dropped as duplicates.
 *   <li>Otherwise the failure is classified: by {@code DelegatingFailureClassifier} if the library itself has thrown it,
 *       else by the application's {@code FailureClassifier}. {@code SuspectRecords} finds what looks like an outage and is
 *       none: one record fails again and again while the store takes writes. That is the message's own failure.
 *   <li>Contention and outages: {@code Outage} notes who waits since when, {@code ConsumerPauses} pauses the consumer, which
 *       goes on polling, and {@code Redelivery} seeks back. The same records come again until they succeed; the wrapped
 *       error handler is not asked and counts no attempt.
 *   <li>The message's own failure: the wrapped error handler decides. The provided one, {@code RetryingErrorHandler}, takes
 *       a batch apart to find the message that fails, and has it delivered again with growing pauses. An unusable key is
 *       not retried.
 *   <li>After the last attempt the {@code DeadLetterPublisher} publishes the message as it was received, and its offset is
 *       committed. If it cannot be published, it is not skipped: it comes again.
 * </ol>
 */
@NullMarked
package dev.idempotency.failure;

import org.jspecify.annotations.NullMarked;
