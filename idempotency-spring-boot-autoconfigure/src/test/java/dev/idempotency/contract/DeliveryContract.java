package dev.idempotency.contract;

import static dev.idempotency.contract.Scenario.conflicts;
import static dev.idempotency.contract.Scenario.deadLetters;
import static dev.idempotency.contract.Scenario.duplicates;
import static dev.idempotency.contract.Scenario.effects;
import static dev.idempotency.contract.Scenario.outage;
import static dev.idempotency.contract.Scenario.scenario;
import static dev.idempotency.contract.Scenario.stale;
import static dev.idempotency.contract.Scenario.steps;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.testing.TestKafka;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/**
 * The delivery contract: one row per thing that can happen to messages, for every kind of listener. Every bug that is found
 * becomes a row. {@link GenericListener} defines the commands. Rows that do not apply to a kind are skipped with a reason.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DeliveryContract {

    private static final int AT_A_TIME = Integer.getInteger("contract.at-a-time", 4);
    private static final String LONG = "x".repeat(2000);

    private static List<Scenario> rows(Kind kind) {
        return List.of(
                // The same message after the commit; new, duplicate and repeated messages in one batch.
                scenario(kind).send("1:a", "2:b").expect(effects("a", "b"), deadLetters(), duplicates(0)),
                scenario(kind).send("1:a", "2:b").andAgain().expect(effects("a", "b"), duplicates(2)),
                scenario(kind).send("1:fails-once", "2:b").andAgain().expect(effects("fails-once", "b"), duplicates(2)),
                identified(kind).send("1:a", "1:a", "2:b", "1:a").expect(effects("a", "b"), duplicates(2)),
                unidentified(kind).send("1:a", "1:a").andAgain().expect(effects("a", "a"), duplicates(2)),
                versioned(kind)
                        .send("1@2:b", "1@1:a", "1@3:c", "1@3:c")
                        .expect(effects("b", "c"), stale(1), duplicates(1)),

                // The same message concurrently.
                contended(kind, "waits-for-rival").unless(kind.atCommit, "its rival does not wait"),
                contended(kind, "waits-for-rival-and-fails-once").unless(kind.atCommit, "its rival does not wait"),
                contended(kind, "meets-rival").unless(!kind.atCommit, "its rival waits"),
                contended(kind, "meets-rival-and-fails-once").unless(!kind.atCommit, "its rival waits"),
                contended(kind, "outlasts-the-claim")
                        .unless(kind.atCommit, "it holds its claim for no longer than the commit")
                        .unless(kind.strategy == DeduplicationStrategy.UNIQUE_CONSTRAINT, "it claims nothing"),

                // Different messages that lock the same business key.
                locked(kind, "is-alone"),
                locked(kind, "outlasts-the-lock"),

                // The listener throws; one message of a batch or poll fails; a poison message beside a busy partition.
                failing(kind, "fails"),
                identified(kind)
                        .send("1:a", "2:fails", "3:c", "1:a")
                        .expect(effects("a", "c"), deadLetters("fails"), duplicates(1)),
                recovering(kind, "fails-once", duplicates(0)),
                scenario(kind)
                        .send("1:fails", "2:fails-once", "3:c", "4:fails")
                        .expect(effects("fails-once", "c"), deadLetters("fails", "fails")),
                failing(kind, "throws-an-error"),
                failing(kind, "fails-in-turns")
                        .unless(kind.container.equals("handled"), "its own error handler starts to count anew"),
                failing(kind, "fails-with-its-handler")
                        .unless(!kind.container.equals("handled"), "it has no error handler of its own"),
                failing(kind, "is-named").unless(!kind.toString().contains("batch"), "it gets its messages one by one"),
                failing(kind, "is-misnamed")
                        .unless(!kind.toString().contains("batch"), "it gets its messages one by one"),
                failing(kind, "violates-itself")
                        .unless(kind.strategy != DeduplicationStrategy.UNIQUE_CONSTRAINT, "it has no constraint"),
                scenario(kind).send("1:fails").besideBusyPartition().expect(deadLetters("fails")),

                // An error handler without retries: the failure of a whole batch is no attempt of any message.
                unretried(kind).send("1:a", "2:fails", "3:c").expect(effects("a", "c"), deadLetters("fails")),
                unretried(kind)
                        .send("1:fails", "2:b", "3:fails-once")
                        .expect(effects("b"), deadLetters("fails", "fails-once")),
                unretried(kind)
                        .send("1:a", "2:fails-once", "3:c")
                        .expect(effects("a", "fails-once", "c"), deadLetters()),

                // The dead letter cannot be published, with and without a message after it.
                undeliverable(kind, "1:a", "2:fails", "3:c")
                        .whileDeadLettersAreRefused()
                        .expect(effects("a", "c"), deadLetters("fails")),
                undeliverable(kind, "1:a", "2:fails")
                        .whileDeadLettersAreRefused()
                        .expect(effects("a"), deadLetters("fails")),
                undeliverable(kind, "1:a", "2:fails-until-repaired")
                        .untilTheyAreRepaired()
                        .expect(effects("a", "fails-until-repaired"), deadLetters()),

                // The commit fails; something throws after it; the listener swallows a database error.
                failing(kind, "fails-at-commit"),
                scenario(kind)
                        .send("1:a", "2:fails-at-commit", "3:fails", "4:d")
                        .expect(effects("a", "d"), deadLetters("fails-at-commit", "fails")),
                recovering(kind, "fails-at-commit-once", duplicates(0)),
                failing(kind, "violates-at-commit").unless(!kind.atCommit, "it is any other failure to commit"),
                identified(kind)
                        .send("1:fails-if-repeated", "1:fails-if-repeated", "3:c")
                        .expect(effects("fails-if-repeated", "c"), deadLetters(), duplicates(1))
                        .unless(kind.strategy != DeduplicationStrategy.MESSAGE_ID, "that is up to the listener"),
                recovering(kind, "outage@after-commit", duplicates(kind.together ? 3 : 1)),
                failing(kind, "swallows-a-database-error"),
                failing(kind, "swallows-before-the-commit"),
                failing(kind, "swallows-a-rejection"),
                scenario(kind)
                        .send("1:a", "2:b", "3:swallows-a-database-error")
                        .expect(effects("a", "b"), deadLetters("swallows-a-database-error")),

                // No key, blank keys, long keys, keys that a database rejects; no message has had a key yet.
                keyed(kind).send("1:a", "-:no-key", "3:c").expect(effects("a", "c"), deadLetters("no-key")),
                keyed(kind).send("1:a", " :blank-key", "3:c").expect(effects("a", "c"), deadLetters("blank-key")),
                keyed(kind).send("1:a", "\0:bad-key", "3:c").expect(effects("a", "c"), deadLetters("bad-key")),
                keyed(kind).send(LONG + "1:a", LONG + "2:b", LONG + "1:a").expect(effects("a", "b"), duplicates(1)),
                keyed(kind)
                        .send("-:no-key")
                        .whenItWaits("2:b", "3:c", "4:d")
                        .expect(effects("b", "c", "d"), deadLetters("no-key")),

                // Payloads that cannot be read; the same id with another payload; several failures at once.
                failing(kind, "unreadable"),
                interrupted(kind, "outage@read").expect(effects("outage@read", "b"), deadLetters()),
                conflicting(kind, "fail").expect(effects("a", "c"), deadLetters("conflict")),
                conflicting(kind, "warn").expect(effects("a", "c"), duplicates(1), conflicts(1)),
                scenario(kind)
                        .send("1:a", "2:unreadable", "3:fails", "4:swallows-a-database-error", "5:fails-once", "6:f")
                        .expect(
                                effects("a", "fails-once", "f"),
                                deadLetters("unreadable", "fails", "swallows-a-database-error")),

                // nack(…); returning without acknowledging.
                acknowledged(kind).send("1:a", "2:nacks", "3:c").expect(effects("a", "nacks", "c"), deadLetters()),
                acknowledged(kind)
                        .send("1:a", "2:nacks", "-:no-key", "4:d")
                        .expect(effects("a", "nacks", "d"), deadLetters("no-key")),
                acknowledged(kind)
                        .send("1:fails-once", "2:nacks", "3:c")
                        .expect(effects("fails-once", "nacks", "c"), deadLetters()),
                acknowledged(kind)
                        .send("1:a", "2:returns-without-ack", "3:c")
                        .expect(effects("a", "returns-without-ack", "c"), deadLetters()),
                acknowledged(kind)
                        .send("1:a", "2:never-acknowledges", "3:c")
                        .expect(effects("a", "c"), deadLetters("never-acknowledges")),

                // Redelivered records are deserialized anew.
                changed(kind, "fails").expect(effects("changes-its-payload", "changes-its-payload")),
                changed(kind, "fails-once").expect(effects("changes-its-payload", "fails-once", "changes-its-payload")),
                changed(kind, "deadlocks").expect(effects("changes-its-payload", "deadlocks", "changes-its-payload")),
                changed(kind, "outage@commit")
                        .expect(effects("changes-its-payload", "outage@commit", "changes-its-payload")),
                identified(kind)
                        .send("1:changes-its-payload", "2:b", "2:b", "3:changes-its-payload")
                        .expect(effects("changes-its-payload", "b", "changes-its-payload"), duplicates(1)),

                // The database is down, or there is contention; its connection is cut, at any point.
                interrupted(kind, "outage@begin").expect(effects("outage@begin", "b"), deadLetters(), outage()),
                interrupted(kind, "outage@claim").expect(effects("outage@claim", "b"), deadLetters(), outage()),
                interrupted(kind, "outage@work").expect(effects("outage@work", "b"), deadLetters(), outage()),
                interrupted(kind, "outage@commit").expect(effects("outage@commit", "b"), deadLetters(), outage()),
                interrupted(kind, "deadlocks").expect(effects("deadlocks", "b"), deadLetters()),
                recovering(kind, "outage@work", outage()),
                scenario(kind).send("1:a", "2:deadlocks", "3:c").expect(effects("a", "deadlocks", "c"), deadLetters()),
                recovering(kind, "fails-before-an-outage", outage()),
                failing(kind, "looks-like-an-outage"),

                // Calls outside the database.
                stepping(kind, "steps", "fails-once-after-steps")
                        .expect(effects("steps", "fails-once-after-steps", "c"), deadLetters(), steps(4)),
                stepping(kind, "steps", "outage@after-steps")
                        .expect(effects("steps", "outage@after-steps", "c"), deadLetters(), outage(), steps(4)),
                stepping(kind, "steps", "fails-after-steps")
                        .expect(effects("steps", "c"), deadLetters("fails-after-steps"), steps(4)),
                stepping(kind, "steps", "fails-in-a-step")
                        .expect(effects("steps", "c"), deadLetters("fails-in-a-step"), steps(4)),
                scenario(kind)
                        .send("1:a", "2:steps", "3:c")
                        .expect(effects("a", "c"), deadLetters("steps"), steps(0))
                        .unless(
                                kind.strategy == DeduplicationStrategy.MESSAGE_ID && !kind.atCommit,
                                "it may take steps"),

                // Covered by other tests.
                scenario(kind).send("1:kill").unless(true, "CrashIT and StepCrashIT kill JVMs"),
                scenario(kind).send("1:topic-created-again").unless(true, "RecreatedTopicIT creates topics again"));
    }

    /** The second of three messages fails permanently. */
    private static Scenario failing(Kind kind, String command) {
        return scenario(kind).send("1:a", "2:" + command, "3:c").expect(effects("a", "c"), deadLetters(command));
    }

    /** The second of three messages succeeds at a later attempt, or is found to be processed already. */
    private static Scenario recovering(Kind kind, String command, Scenario.Expectation more) {
        return scenario(kind)
                .send("1:a", "2:" + command, "3:c")
                .expect(effects("a", command, "c"), deadLetters(), more);
    }

    /** Rows for kinds that recognize a message that is published twice. */
    private static Scenario identified(Kind kind) {
        return scenario(kind)
                .unless(kind.strategy == DeduplicationStrategy.OFFSET, "a message that is published twice is two");
    }

    private static Scenario unidentified(Kind kind) {
        return scenario(kind)
                .unless(kind.strategy != DeduplicationStrategy.OFFSET, "a message that is published twice is one");
    }

    private static Scenario versioned(Kind kind) {
        return scenario(kind).unless(kind.strategy != DeduplicationStrategy.VERSION, "it compares no versions");
    }

    /** Rows for kinds that need a key. */
    private static Scenario keyed(Kind kind) {
        return identified(kind).unless(kind.strategy == DeduplicationStrategy.UNIQUE_CONSTRAINT, "it has no key");
    }

    private static Scenario stepping(Kind kind, String first, String second) {
        return scenario(kind)
                .send("1:" + first, "2:" + second, "3:c")
                .unless(kind.strategy != DeduplicationStrategy.MESSAGE_ID || kind.atCommit, "it may take no steps");
    }

    private static Scenario conflicting(Kind kind, String onConflict) {
        return scenario(kind)
                .send("1:a", "1:conflict", "3:c")
                .unless(!kind.onConflict.equals(onConflict), "its conflicts are " + kind.onConflict)
                .unless(kind.strategy != DeduplicationStrategy.MESSAGE_ID, "it compares no payloads");
    }

    private static Scenario acknowledged(Kind kind) {
        return scenario(kind).unless(!kind.container.equals("acknowledged"), "its container acknowledges");
    }

    private static Scenario contended(Kind kind, String command) {
        return scenario(kind)
                .send("1:" + command, "1:" + command)
                .concurrently()
                .expect(effects(command), deadLetters(), duplicates(1))
                .unless(kind.strategy == DeduplicationStrategy.OFFSET, "a partition has one consumer at a time");
    }

    private static Scenario locked(Kind kind, String command) {
        return scenario(kind)
                .send("1:" + command, "2:" + command)
                .concurrently()
                .expect(effects(command, command), deadLetters(), duplicates(0))
                .unless(!kind.locks, "it locks nothing");
    }

    private static Scenario unretried(Kind kind) {
        return scenario(kind)
                .withoutRetries()
                .unless(!kind.container.equals("handled"), "it has no error handler of its own")
                .unless(!kind.together, "it gets its messages one by one");
    }

    private static Scenario undeliverable(Kind kind, String... messages) {
        return scenario(kind)
                .send(messages)
                .unless(kind.container.equals("handled"), "its own error handler publishes nothing")
                .unless(kind == Kind.RETRYABLE, "Spring Kafka publishes its dead letters");
    }

    private static Scenario changed(Kind kind, String command) {
        return scenario(kind).send("1:changes-its-payload", "2:" + command, "3:changes-its-payload");
    }

    private static Scenario interrupted(Kind kind, String command) {
        return scenario(kind).send("1:" + command, "2:b");
    }

    private final Class<?> configuration;
    private final ContractApplication application = new ContractApplication();
    private final List<Scenario> rows;

    DeliveryContract(Class<?> configuration, Collection<Kind> kinds) {
        this.configuration = configuration;
        this.rows = kinds.stream()
                .flatMap(kind -> rows(kind).stream())
                .filter(row -> row.toString().matches(System.getProperty("contract.rows", ".*")))
                .toList();
    }

    @BeforeAll
    void start() throws Exception {
        String prefix = TestKafka.uniqueName("case");
        List<Journal> cases = new ArrayList<>();
        List<NewTopic> topics = new ArrayList<>();
        for (Scenario row : this.rows) {
            if (row.applies()) {
                cases.add(row.open(prefix + "-" + cases.size(), this.application));
                topics.addAll(row.topics());
            }
        }
        TestKafka.sharedAdmin().createTopics(topics).all().get(60, TimeUnit.SECONDS);
        this.application.start(cases, this.configuration);
    }

    @AfterAll
    void stop() {
        this.application.close();
    }

    /** Runs several rows in parallel, as they mostly wait. */
    @TestFactory
    List<DynamicTest> deliveries() {
        ExecutorService executor = Executors.newFixedThreadPool(AT_A_TIME);
        List<DynamicTest> tests = new ArrayList<>();
        for (Scenario row : this.rows) {
            Future<?> run = executor.submit(() -> row.run(this.application));
            tests.add(DynamicTest.dynamicTest(row.toString(), () -> {
                try {
                    run.get();
                } catch (ExecutionException ex) {
                    Throwable cause = ex.getCause();
                    throw (cause instanceof TestAbortedException)
                            ? cause
                            : new AssertionError(row + ": " + cause, cause);
                }
            }));
        }
        executor.shutdown();
        return tests;
    }
}
