package dev.idempotency.test;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.test.ConsumerOutcomes.Processed;
import dev.idempotency.test.ContainerRun.Fault;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.util.Assert;

/**
 * Records that are about to be delivered, and the ways to do it. Each returns when the listener's container has done all
 * that it does with them, retries and dead letters included.
 *
 * <p>Each fails if a protected listener has processed one of them more than once. What the listener did elsewhere is the
 * test's to check.
 */
public final class TestDelivery {

    private final TestedConsumer consumer;
    private final AbstractMessageListenerContainer<?, ?> container;
    private final List<LoggedRecord> records;
    private final ContainerRunner runner;

    TestDelivery(
            TestedConsumer consumer,
            AbstractMessageListenerContainer<?, ?> container,
            List<LoggedRecord> records,
            ContainerRunner runner) {
        this.consumer = consumer;
        this.container = container;
        this.records = records;
        this.runner = runner;
    }

    /** Delivers them. */
    public TestedConsumer once() {
        return times(1);
    }

    /** Delivers them, and when their offset has been committed delivers them again: a rewind. */
    public TestedConsumer twice() {
        return times(2);
    }

    /** Delivers them so many times, one after the other. */
    public TestedConsumer times(int deliveries) {
        Assert.isTrue(deliveries > 0, () -> "At least one delivery is needed, not " + deliveries);
        return deliver(Collections.nCopies(deliveries, Fault.NONE));
    }

    /** Delivers them, and again as later records at other offsets: the producer has sent them twice. */
    public TestedConsumer thenRepublished() {
        List<LoggedRecord> copies =
                this.records.stream().map(this.runner.log()::republish).toList();
        return verify(copies, () -> {
            run(this.records, Fault.NONE);
            run(copies, Fault.NONE);
        });
    }

    /** Delivers them to so many containers at the same time, as if each were another instance of the application. */
    public TestedConsumer concurrently(int containers) {
        Assert.isTrue(containers > 0, () -> "At least one container is needed, not " + containers);
        return verify(
                List.of(), () -> this.runner.run(this.container, this.consumer, this.records, containers, Fault.NONE));
    }

    /**
     * Delivers them to a container whose commits of offsets do not reach the broker, which is then gone, and delivers
     * them again to another one, which begins where the offsets still stand.
     */
    public TestedConsumer withCrashBeforeOffsetCommit() {
        return deliver(List.of(Fault.LOST_OFFSETS, Fault.NONE));
    }

    /**
     * Delivers them and rolls each message's transaction back once, after the listener's work, so that they are
     * redelivered. What the listener has done outside its transaction is then done twice: in {@code REQUIRES_NEW}, on
     * another thread, or in another system.
     */
    public TestedConsumer withRollbackAfterWork() {
        Assert.state(
                this.consumer.isProtected(),
                () -> "%s is a listener without @IdempotentListener: it has no transaction to roll back."
                        .formatted(this.consumer));
        return deliver(List.of(Fault.ROLLBACK));
    }

    /**
     * Delivers them and ends each message's work once right after a step of this name was recorded, as if the process had
     * crashed there, so that they are redelivered. Count the step's calls in the test: there must be one for each message.
     */
    public TestedConsumer crashingAfterStep(String name) {
        Assert.state(this.consumer.isProtected(), () -> "%s is a listener without @IdempotentListener: it has no steps."
                .formatted(this.consumer));
        return deliver(List.of(Fault.afterStep(name)));
    }

    /** Delivers them one time after the other, each with its fault. */
    private TestedConsumer deliver(List<Fault> faults) {
        return verify(List.of(), () -> faults.forEach(fault -> run(this.records, fault)));
    }

    private void run(List<LoggedRecord> delivered, Fault fault) {
        this.runner.run(this.container, this.consumer, delivered, 1, fault);
    }

    private TestedConsumer verify(List<LoggedRecord> copies, Runnable deliveries) {
        ConsumerOutcomes outcomes = this.consumer.outcomes();
        int before = outcomes.processed.size();
        deliveries.run();
        List<Processed> now = outcomes.processed.stream().skip(before).toList();
        for (int i = 0; i < this.records.size(); i++) {
            LoggedRecord record = this.records.get(i);
            Set<RecordCoordinates> places = Stream.concat(
                            Stream.of(record), copies.isEmpty() ? Stream.empty() : Stream.of(copies.get(i)))
                    .map(LoggedRecord::coordinates)
                    .collect(Collectors.toSet());
            requireProcessedOnce(
                    record,
                    now.stream()
                            .filter(one -> places.contains(one.coordinates()))
                            .toList());
            long unknown = outcomes.withoutKey.stream().filter(places::contains).count();
            if (unknown > 1 && outcomes.deadLettered.stream().noneMatch(places::contains)) {
                throw new AssertionError(
                        "%s is not idempotent: the record %s has no key, and was processed without protection. Let the"
                                        .formatted(this.consumer, record.coordinates())
                                + " producer send one, or set idempotency.key.on-missing=fail.");
            }
        }
        return this.consumer;
    }

    private void requireProcessedOnce(LoggedRecord record, List<Processed> processed) {
        if (processed.size() > 1) {
            throw new AssertionError(
                    ("%s is not idempotent: it has processed the record %s %d times, as the messages %s. The key must"
                                    + " be the same for every delivery of a message, wherever it stands: see the key of its"
                                    + " @IdempotentListener.")
                            .formatted(
                                    this.consumer,
                                    record.coordinates(),
                                    processed.size(),
                                    processed.stream()
                                            .map(one -> one.id().value())
                                            .toList()));
        }
    }
}
