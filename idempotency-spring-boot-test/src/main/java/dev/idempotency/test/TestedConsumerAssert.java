package dev.idempotency.test;

import java.util.Collections;
import java.util.List;
import org.assertj.core.api.AbstractAssert;
import org.springframework.util.Assert;

/** Assertions about the outcomes of a consumer's messages since the start of the test method. */
public final class TestedConsumerAssert extends AbstractAssert<TestedConsumerAssert, TestedConsumer> {

    TestedConsumerAssert(TestedConsumer actual) {
        super(actual, TestedConsumerAssert.class);
    }

    /** Verifies that the effects of each of these messages were committed exactly once; others may be processed, too. */
    public TestedConsumerAssert hasProcessed(String... ids) {
        Assert.notEmpty(
                ids, "Name the messages that are to have been processed; for none of them, say hasProcessedNothing()");
        requireProtection();
        for (String id : ids) {
            int times = Collections.frequency(this.actual.processed(), id);
            if (times != 1) {
                failWithMessage(
                        "Expected %s to have processed message '%s' once, but it did %s. %s",
                        this.actual, id, (times == 0) ? "not" : "so %d times".formatted(times), summary());
            }
        }
        return this;
    }

    /** Verifies that no effects have been committed. */
    public TestedConsumerAssert hasProcessedNothing() {
        requireProtection();
        if (!this.actual.processed().isEmpty()) {
            failWithMessage("Expected %s to have processed nothing. %s", this.actual, summary());
        }
        return this;
    }

    /** Verifies that this many deliveries were dropped as duplicates, of any messages. */
    public TestedConsumerAssert hasDropped(int deliveries) {
        requireProtection();
        return count("dropped deliveries", deliveries, this.actual.dropped().size());
    }

    /** Verifies that this many deliveries of a message were dropped as duplicates. */
    public TestedConsumerAssert hasDropped(String id, int deliveries) {
        requireProtection();
        String what = "dropped deliveries of message '%s'".formatted(id);
        return count(what, deliveries, Collections.frequency(this.actual.dropped(), id));
    }

    /** Verifies that this many deliveries were dropped because a newer version of their entity had been processed. */
    public TestedConsumerAssert hasDroppedStale(int deliveries) {
        requireProtection();
        return count("stale deliveries", deliveries, this.actual.stale().size());
    }

    /** Verifies that this many attempts were rolled back. */
    public TestedConsumerAssert hasFailed(int attempts) {
        requireProtection();
        return count("failed attempts", attempts, this.actual.failures());
    }

    /** Verifies that this many messages were sent to a dead-letter topic. */
    public TestedConsumerAssert hasDeadLettered(int messages) {
        return count("dead letters", messages, this.actual.deadLetters().size());
    }

    /** Verifies that this many messages failed and were sent to a retry topic. */
    public TestedConsumerAssert hasSentToRetryTopic(int messages) {
        requireProtection();
        return count(
                "records for retry topics",
                messages,
                this.actual.retryTopicRecords().size());
    }

    private TestedConsumerAssert count(String what, int expected, int found) {
        if (found != expected) {
            failWithMessage(
                    "Expected %s to have %d %s, but there are %d. %s", this.actual, expected, what, found, summary());
        }
        return this;
    }

    private void requireProtection() {
        isNotNull();
        if (!this.actual.isProtected()) {
            failWithMessage(
                    "Expected %s to be protected, but it is a listener without @IdempotentListener: it processes every"
                            + " delivery, and nothing is recorded of that. Add @IdempotentListener(\"%s\").",
                    this.actual, this.actual.name());
        }
    }

    private String summary() {
        List<String> failures = this.actual.outcomes().failures;
        String last = failures.isEmpty() ? "" : " (the last with %s)".formatted(failures.get(failures.size() - 1));
        return ("Processed: %s; dropped: %s; stale: %s; failed attempts: %d%s; without a key: %d; sent to retry topics: %d;"
                        + " dead letters: %d")
                .formatted(
                        this.actual.processed(),
                        this.actual.dropped(),
                        this.actual.stale(),
                        failures.size(),
                        last,
                        this.actual.outcomes().withoutKey.size(),
                        this.actual.retryTopicRecords().size(),
                        this.actual.deadLetters().size());
    }
}
