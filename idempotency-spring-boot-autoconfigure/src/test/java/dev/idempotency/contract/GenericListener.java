package dev.idempotency.contract;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyContext;
import dev.idempotency.app.HasEffects;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.annotation.AliasFor;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Writes an effect for each message, in the listener's transaction, and then executes the message's command. */
abstract class GenericListener {

    /** Each case has its own bean, topic, group and consumer name. */
    @Retention(RetentionPolicy.RUNTIME)
    @KafkaListener(
            id = "#{__listener.topic}",
            topics = "#{__listener.topic}",
            concurrency = "#{__listener.consumers}",
            autoStartup = "false")
    @interface OwnTopic {

        @AliasFor(annotation = KafkaListener.class)
        String batch() default "false";
    }

    /** The number of attempts that an outage lasts: more than a failing message is given. */
    static final int OUTAGE = 2 * ContractApplication.ATTEMPTS;

    private static final String CUT = "select pg_terminate_backend(pg_backend_pid()), pg_sleep(9)";
    private static final Duration NACK = Duration.ofMillis(10);

    @Autowired
    private JdbcTemplate jdbc;

    @Autowired
    private PlatformTransactionManager transactions;

    Journal journal;

    public String getTopic() {
        return this.journal.topic;
    }

    public int getConsumers() {
        return this.journal.consumers;
    }

    void process(List<Order> orders, List<Integer> numbers, Acknowledgment acknowledgment) {
        if (orders.isEmpty() || orders.size() != numbers.size()) {
            throw new AssertionError("called with %s at %s".formatted(orders, numbers));
        }
        boolean acknowledges = true;
        for (int i = 0; i < orders.size(); i++) {
            int attempt = process(orders.get(i), numbers.get(i), i);
            if (orders.get(i).command.equals("is-named")) {
                throw new BatchListenerFailedException("told to fail", i);
            }
            if (orders.get(i).command.equals("is-misnamed")) {
                throw new BatchListenerFailedException("told to fail", orders.size() - 1);
            }
            if (nacks(orders.get(i), attempt)) {
                acknowledgment.nack(i, NACK);
                return;
            }
            acknowledges &= acknowledges(orders.get(i), attempt);
        }
        if (acknowledgment != null && acknowledges) {
            acknowledgment.acknowledge();
        }
    }

    void process(Order order, int number, Acknowledgment acknowledgment) {
        int attempt = process(order, number);
        if (nacks(order, attempt)) {
            acknowledgment.nack(NACK);
        } else if (acknowledges(order, attempt)) {
            acknowledgment.acknowledge();
        }
    }

    private static boolean nacks(Order order, int attempt) {
        return order.command.equals("nacks") && attempt == 1;
    }

    private static boolean acknowledges(Order order, int attempt) {
        return !order.command.equals("never-acknowledges")
                && !(order.command.equals("returns-without-ack") && attempt == 1);
    }

    int process(Order order, int number) {
        return process(order, number, 0);
    }

    /** Returns the number of the attempt. */
    private int process(Order order, int number, int index) {
        int attempt = this.journal.attempt(number);
        if (order.command.equals("changes-its-payload")) {
            order.amount *= 2;
        }
        this.jdbc.update(
                "insert into effect (topic, number, id, version, command, amount, attempt) values (?, ?, ?, ?, ?, ?, ?)",
                this.journal.topic,
                number,
                order.getId(),
                order.getVersion(),
                order.command,
                order.amount,
                attempt);
        if (this.journal.kind.strategy == DeduplicationStrategy.UNIQUE_CONSTRAINT) {
            pay(order);
        }
        if (order.command.contains("step")) {
            takeSteps(order, number, index);
        }
        obey(order, attempt);
        return attempt;
    }

    private void takeSteps(Order order, int number, int index) {
        IdempotencyContext context = IdempotencyContext.current();
        String key = context.step(index, "charge", String.class, given -> {
            this.journal.call(number, "charge");
            return given;
        });
        if (!key.equals(context.deriveKey(index, "charge"))) {
            throw new AssertionError("another key: " + key);
        }
        context.stepAtMostOnce(index, "mail", () -> {
            this.journal.call(number, "mail");
            failIf(order.command.equals("fails-in-a-step"));
        });
    }

    private void pay(Order order) {
        this.jdbc.update("insert into payment (id) values (?)", this.journal.topic + "/" + order.getId());
    }

    private void obey(Order order, int attempt) {
        switch (order.command) {
            case "fails", "fails-after-steps", "fails-with-its-handler" -> failIf(true);
            case "fails-in-turns" -> {
                failIf(attempt % 2 == 0);
                throw new IllegalArgumentException("told to fail");
            }
            case "fails-until-repaired" -> failIf(!this.journal.repaired);
            case "fails-once", "fails-once-after-steps" -> failIf(attempt == 1);
            case "throws-an-error" -> throw new StackOverflowError("told to fail");
            case "violates-itself", "fails-if-repeated" -> pay(order);
            case "looks-like-an-outage" -> this.jdbc.execute("set transaction read only; insert into sole values (2)");
            case "fails-before-an-outage" -> {
                failIf(attempt == 1);
                failIf(attempt <= OUTAGE, CUT);
            }
            case "swallows-a-database-error" -> swallowDatabaseError();
            case "swallows-a-rejection" -> swallowRejection();
            case "swallows-before-the-commit" -> HasEffects.beforeCommit(this::swallowDatabaseError);
            case "waits-for-rival" -> awaitRival();
            case "waits-for-rival-and-fails-once" -> failIf(awaitRival());
            case "meets-rival" -> meetRival();
            case "meets-rival-and-fails-once" -> failIf(meetRival());
            case "outlasts-the-claim" -> await().until(() -> this.journal.reported("claimFailed") > 0);
            case "is-alone" -> stayAlone();
            case "outlasts-the-lock" -> await().until(() -> this.journal.reported("retried") > 0);
            case "deadlocks" -> failIf(attempt <= OUTAGE, "do $$ begin raise using errcode = '40P01'; end $$");
            case "outage@work", "outage@after-steps" -> failIf(attempt <= OUTAGE, CUT);
            case "outage@after-commit" -> failAfterCommitIf(attempt == 1);
            default -> {
                // Either the database fails at the commit, or nothing fails.
            }
        }
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Scenario.TIMEOUT);
    }

    private static void failIf(boolean condition) {
        if (condition) {
            throw new IllegalStateException("told to fail");
        }
    }

    private void failIf(boolean condition, String statement) {
        if (condition) {
            this.jdbc.execute(statement);
        }
    }

    /** Throws an exception that error handlers do not retry. */
    private static void failAfterCommitIf(boolean condition) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

            @Override
            public void afterCommit() {
                if (condition) {
                    throw new ClassCastException("told to fail after the commit");
                }
            }
        });
    }

    private void swallowDatabaseError() {
        try {
            this.jdbc.update("insert into sole (id) values (1)");
        } catch (DuplicateKeyException ex) {
            // Like an application that inserts a row and ignores that it exists already.
        }
    }

    /** Marks the shared transaction for rollback, so that its commit throws an exception. */
    private void swallowRejection() {
        try {
            new TransactionTemplate(this.transactions).executeWithoutResult(status -> failIf(true));
        } catch (IllegalStateException ex) {
            // Like an application that calls a transactional service and expects to be rejected.
        }
    }

    /** Waits until the other call has arrived too; returns whether this one was first. */
    private boolean meetRival() {
        boolean first = this.journal.arrivals.getAndIncrement() == 0;
        await().until(() -> this.journal.arrivals.get() > 1);
        return first;
    }

    /** Waits long enough for another call to arrive if the lock does not exclude it. */
    private void stayAlone() {
        if (this.journal.arrivals.incrementAndGet() > 1) {
            this.journal.violations.add("two at once have locked the same key");
        }
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

            @Override
            public void beforeCompletion() {
                GenericListener.this.journal.arrivals.decrementAndGet();
            }
        });
        await().during(Duration.ofMillis(300)).until(() -> this.journal.arrivals.get() > 0);
    }

    /** The first call waits until another transaction waits for its own; returns whether this call was first. */
    private boolean awaitRival() {
        boolean first = this.journal.arrivals.getAndIncrement() == 0;
        if (first) {
            Integer pid = this.jdbc.queryForObject("select pg_backend_pid()", Integer.class);
            await().until(() -> this.journal.isAwaited(pid));
        }
        return first;
    }
}
