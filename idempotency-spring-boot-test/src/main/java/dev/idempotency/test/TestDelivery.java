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
 * Delivers records to a listener in one of several ways. Each method returns when the listener's container has handled all
 * records, including retries and dead letters.
 *
 * <p>Each method fails if a protected listener has processed any record more than once. Effects outside the listener's
 * transaction must be checked by the test.
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

    /** Delivers the records. */
    public TestedConsumer once() {
        return times(1);
    }

    /** Delivers the records, and redelivers them after the commit of their offsets, as after a rewind. */
    public TestedConsumer twice() {
        return times(2);
    }

    /** Delivers the records this many times, one after the other. */
    public TestedConsumer times(int deliveries) {
        Assert.isTrue(deliveries > 0, () -> "At least one delivery is needed, not " + deliveries);
        return deliver(Collections.nCopies(deliveries, Fault.NONE));
    }

    /** Delivers the records, then copies at later offsets, as if the producer had sent them twice. */
    public TestedConsumer thenRepublished() {
        List<LoggedRecord> copies =
                this.records.stream().map(this.runner.log()::republish).toList();
        return verify(copies, () -> {
            run(this.records, Fault.NONE);
            run(copies, Fault.NONE);
        });
    }

    /** Delivers the records to this many containers at the same time, as if each were another instance of the application. */
    public TestedConsumer concurrently(int containers) {
        Assert.isTrue(containers > 0, () -> "At least one container is needed, not " + containers);
        return verify(
                List.of(), () -> this.runner.run(this.container, this.consumer, this.records, containers, Fault.NONE));
    }

    /**
     * Delivers the records to a container whose commits of offsets do not reach the broker, then redelivers them to another
     * container, which starts at the uncommitted offsets.
     */
    public TestedConsumer withCrashBeforeOffsetCommit() {
        return deliver(List.of(Fault.LOST_OFFSETS, Fault.NONE));
    }

    /**
     * Delivers the records and rolls back each message's transaction once, after the listener's work, so that the records are
     * redelivered. Work outside the listener's transaction is then done twice: in {@code REQUIRES_NEW}, on another thread, or
     * in another system.
     */
    public TestedConsumer withRollbackAfterWork() {
        Assert.state(
                this.consumer.isProtected(),
                () -> "%s is a listener without @IdempotentListener: it has no transaction to roll back."
                        .formatted(this.consumer));
        return deliver(List.of(Fault.ROLLBACK));
    }

    /**
     * Delivers the records and interrupts each message's work once right after a step of this name was recorded, as if the
     * process had crashed there, so that they are redelivered. The test should count the step's calls: one for each message.
     */
    public TestedConsumer crashingAfterStep(String name) {
        Assert.state(this.consumer.isProtected(), () -> "%s is a listener without @IdempotentListener: it has no steps."
                .formatted(this.consumer));
        return deliver(List.of(Fault.afterStep(name)));
    }

    /** Delivers the records once per fault, one delivery after the other. */
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
