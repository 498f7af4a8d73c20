package dev.idempotency.internal.result;

import dev.idempotency.IdempotencyContext.StepRunner;
import dev.idempotency.MessageId;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.StepOutcome;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/** Runs steps and records them on a second connection, so that they stay when the listener's transaction is rolled back. */
public final class Steps {

    private static final int LONGEST_NAME = 100;

    /** Query timeout, including lock waits. */
    private static final int TIMEOUT_SECONDS = 10;

    private static final String STARTED = "started";
    private static final String DONE = "done";

    private static final String OF_STARTED_STEP =
            " where consumer_id = ? and message_id = ? and step_name = ? and status = 'started'";

    /** So that it is replayed with those that have failed. */
    private static final String MARK_SETTLED = """
            update %s
            set status = 'failed', updated_at = %s
            where consumer_id = ? and message_id = ? and status = 'unknown'
            """;

    private final ResultStore results;
    private final IntSupplier poolSize;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final String table;
    private final String find;
    private final String complete;
    private final String markSettled;

    public Steps(IdempotencyDatabase database, ResultStore results, IntSupplier poolSize) {
        this.results = results;
        this.poolSize = poolSize;
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        this.table = database.stepTable();
        this.find =
                "select step_name, status, result, %s from %s where consumer_id = ? and message_id = ? order by step_name"
                        .formatted(database.dialect().secondsOf("processed_at"), this.table);
        this.complete = "update " + this.table + " set status = 'done'" + OF_STARTED_STEP;
        this.markSettled =
                MARK_SETTLED.formatted(database.inboxTable(), database.dialect().now());
    }

    /**
     * A step of a message: {@code done}, or {@code started} if no outcome is known; its result, if it has one, is JSON;
     * {@code at} is when it was recorded.
     */
    public record Step(
            String name,
            String status,
            @Nullable String result,
            @Nullable Instant at) {}

    /** How many connections the pool has at most; the highest number if that is not known. */
    public int poolSize() {
        return this.poolSize.getAsInt();
    }

    /** Runs the steps of a consumer. Its messages must be claimed before, so that no other attempt runs them meanwhile. */
    public StepRunner reportedTo(IdempotencyEventListener listener) {
        return (id, name, type, call) -> {
            Assert.isTrue(
                    StringUtils.hasText(name) && name.length() <= LONGEST_NAME && MessageId.whyRefused(name) == null,
                    () -> "The name of a step has 1 to %d characters that databases take, not '%s'"
                            .formatted(LONGEST_NAME, name));
            Assert.state(
                    poolSize() > 1,
                    "A step is recorded on a second connection while the listener's transaction holds the first, but the pool"
                            + " has one only. Set spring.datasource.hikari.maximum-pool-size to 2 or more.");
            Consumer<StepOutcome> report = outcome -> listener.step(id, name, outcome);
            if (type != null) {
                return run(id, name, type, call, report);
            }
            runAtMostOnce(id, name, call, report);
            return null;
        };
    }

    private @Nullable Object run(MessageId id, String name, Type type, Supplier<?> call, Consumer<StepOutcome> report) {
        String obstacle = this.results.obstacleFor(ResultType.of(type));
        Assert.state(obstacle == null, () -> "Results of steps are recorded as JSON, but " + obstacle + ".");
        Step step = find(id, name);
        if (step != null) {
            requireDone(id, name, step, report);
        } else {
            String consequence =
                    "Step '%s' of %s was called, but is not recorded, so that the next attempt calls again";
            Object result;
            try {
                result = call.get();
            } catch (Throwable ex) {
                report.accept(StepOutcome.FAILED);
                throw ex;
            }
            step = new Step(name, DONE, this.results.write(consequence.formatted(name, id), type, result), null);
            if (!insert(id, step)) {
                // Another attempt was quicker, as this one has lost its claim: both get one result.
                step = Objects.requireNonNullElse(find(id, name), step);
            }
            report.accept(StepOutcome.EXECUTED);
        }
        return this.results.read(
                "Step '%s' of %s was recorded, and is not called again; but its result".formatted(name, id),
                type,
                step.result(),
                "idempotency_step");
    }

    /** The intention is inserted, not looked for: of two attempts only one can have inserted it. */
    private void runAtMostOnce(MessageId id, String name, Supplier<?> call, Consumer<StepOutcome> report) {
        if (!insert(id, new Step(name, STARTED, null, null))) {
            requireDone(id, name, find(id, name), report);
            return;
        }
        try {
            call.get();
        } catch (Exception ex) {
            // A request may have arrived whose answer did not.
            throw unknown(id, name, ex, report);
        }
        inTransaction(() -> this.jdbc.update(this.complete, id.consumer(), id.value(), name));
        report.accept(StepOutcome.EXECUTED);
    }

    /** An earlier attempt has recorded it, and it is not called again. */
    private static void requireDone(MessageId id, String name, @Nullable Step step, Consumer<StepOutcome> report) {
        if (step == null || !step.status().equals(DONE)) {
            throw unknown(id, name, null, report);
        }
        report.accept(StepOutcome.REPLAYED);
    }

    private static UnknownOutcomeException unknown(
            MessageId id, String name, @Nullable Exception cause, Consumer<StepOutcome> report) {
        report.accept(StepOutcome.UNKNOWN);
        String reason = (cause != null) ? "failed with " + cause : "its attempt ended before its outcome was recorded";
        return new UnknownOutcomeException(
                "Step '%s' of %s was begun, and %s: whether it happened is unknown, and it is not called again. Find out, settle it with a POST to the endpoint 'idempotency' (consumer, messageId, step, and outcome 'done' or 'not-done'), and redrive the message."
                        .formatted(name, id, reason),
                cause);
    }

    private @Nullable Step find(MessageId id, String name) {
        return find(id).stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** The steps of a message, by name. */
    public List<Step> find(MessageId id) {
        return inTransaction(() -> this.jdbc.query(
                this.find,
                (row, number) -> new Step(
                        row.getString(1),
                        row.getString(2),
                        row.getString(3),
                        EpochSeconds.toInstant(row.getBigDecimal(4))),
                id.consumer(),
                id.value()));
    }

    /** Inserts a step, unless it is there. */
    private boolean insert(MessageId id, Step step) {
        String sql = "insert into %s (consumer_id, message_id, step_name, status, result) values (?, ?, ?, ?, ?)"
                .formatted(this.table);
        try {
            inTransaction(
                    () -> this.jdbc.update(sql, id.consumer(), id.value(), step.name(), step.status(), step.result()));
            return true;
        } catch (DuplicateKeyException ex) {
            // Its own transaction, which has ended.
            return false;
        }
    }

    /** Records whether a step that was begun has happened; returns {@code false} if there is none of unknown outcome. */
    public boolean settle(MessageId id, String name, boolean done) {
        String sql = done ? this.complete : "delete from " + this.table + OF_STARTED_STEP;
        return inTransaction(() -> {
            boolean settled = this.jdbc.update(sql, id.consumer(), id.value(), name) > 0;
            if (settled) {
                this.jdbc.update(this.markSettled, id.consumer(), id.value());
            }
            return settled;
        });
    }

    private <T> T inTransaction(Supplier<T> work) {
        return StoreExceptionTranslator.attempt(
                () -> "record a step", () -> this.transaction.execute(status -> work.get()));
    }
}
