package dev.idempotency.test;

import dev.idempotency.RecordCoordinates;
import dev.idempotency.test.ConsumerOutcomes.Processed;
import dev.idempotency.test.ContainerRun.Fault;
import java.util.ArrayList;
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
        List<Processed> before = List.copyOf(this.consumer.outcomes().processed());
        for (int i = 0; i < deliveries; i++) {
            run(this.records, Fault.NONE);
        }
        return verify(before, List.of());
    }

    /** Delivers them, and again as later records at other offsets: the producer has sent them twice. */
    public TestedConsumer thenRepublished() {
        List<Processed> before = List.copyOf(this.consumer.outcomes().processed());
        List<LoggedRecord> copies =
                this.records.stream().map(this.runner.log()::republish).toList();
        run(this.records, Fault.NONE);
        run(copies, Fault.NONE);
        return verify(before, copies);
    }

    /** Delivers them to so many containers at the same time, as if each were another instance of the application. */
    public TestedConsumer concurrently(int containers) {
        Assert.isTrue(containers > 0, () -> "At least one container is needed, not " + containers);
        List<Processed> before = List.copyOf(this.consumer.outcomes().processed());
        this.runner.run(this.container, this.consumer, this.records, containers, Fault.NONE);
        return verify(before, List.of());
    }

    /**
     * Delivers them to a container whose commits of offsets do not reach the broker, which is then gone, and delivers
     * them again to another one, which begins where the offsets still stand.
     */
    public TestedConsumer withCrashBeforeOffsetCommit() {
        List<Processed> before = List.copyOf(this.consumer.outcomes().processed());
        run(this.records, Fault.LOST_OFFSETS);
        run(this.records, Fault.NONE);
        return verify(before, List.of());
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
        List<Processed> before = List.copyOf(this.consumer.outcomes().processed());
        run(this.records, Fault.ROLLBACK);
        return verify(before, List.of());
    }

    /**
     * Delivers them and ends each message's work once right after a step of this name was recorded, as if the process had
     * crashed there, so that they are redelivered. Count the step's calls in the test: there must be one for each message.
     */
    public TestedConsumer crashingAfterStep(String name) {
        Assert.state(this.consumer.isProtected(), () -> "%s is a listener without @IdempotentListener: it has no steps."
                .formatted(this.consumer));
        List<Processed> before = List.copyOf(this.consumer.outcomes().processed());
        run(this.records, Fault.afterStep(name));
        return verify(before, List.of());
    }

    private void run(List<LoggedRecord> delivered, Fault fault) {
        this.runner.run(this.container, this.consumer, delivered, 1, fault);
    }

    private TestedConsumer verify(List<Processed> before, List<LoggedRecord> copies) {
        ConsumerOutcomes outcomes = this.consumer.outcomes();
        List<Processed> now = new ArrayList<>(outcomes.processed());
        now.subList(0, Math.min(before.size(), now.size())).clear();
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
            long unknown =
                    outcomes.withoutKey().stream().filter(places::contains).count();
            if (unknown > 1 && outcomes.deadLettered().stream().noneMatch(places::contains)) {
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
