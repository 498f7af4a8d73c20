package dev.idempotency.internal.step;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.MessageId;
import dev.idempotency.StepRunner;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.StepOutcome;
import dev.idempotency.internal.database.Dialect;
import dev.idempotency.internal.database.EpochSeconds;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.PoolSize;
import dev.idempotency.internal.result.ResultStore;
import dev.idempotency.internal.result.ResultType;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

/** Runs steps and records them on a second connection, so that they stay when the listener's transaction is rolled back. */
public final class Steps {

    private static final Logger logger = LoggerFactory.getLogger(Steps.class);

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
    private final PoolSize poolSize;
    private final IntSupplier consumers;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;
    private final String find;
    private final String insert;
    private final String complete;
    private final String withdraw;
    private final String markSettled;
    private volatile boolean hasSecondConnection;

    /** {@code consumers} says how many of them may hold a connection at the same time. */
    public Steps(IdempotencyDatabase database, ResultStore results, PoolSize poolSize, IntSupplier consumers) {
        this.results = results;
        this.poolSize = poolSize;
        this.consumers = consumers;
        this.jdbc = database.jdbc(TIMEOUT_SECONDS);
        this.transaction = database.newTransaction();
        Dialect dialect = database.dialect();
        String table = database.stepTable();
        this.find = "select step_name, status, result, %s from %s where consumer_id = ? and message_id = ?"
                .formatted(dialect.secondsOf("processed_at"), table);
        this.insert = "insert into %s (consumer_id, message_id, step_name, status, result) values (?, ?, ?, ?, ?)"
                .formatted(table);
        this.complete = "update " + table + " set status = 'done'" + OF_STARTED_STEP;
        this.withdraw = "delete from " + table + OF_STARTED_STEP;
        this.markSettled = MARK_SETTLED.formatted(database.inboxTable(), dialect.now());
    }

    /**
     * A step of a message.
     *
     * @param status {@code done}, or {@code started} for one of which no outcome is known
     * @param result its result as JSON, if it has one
     * @param at when it was begun, if it must not be repeated, or else done
     */
    public record Step(String name, String status, @Nullable String result, Instant at) {

        public boolean isDone() {
            return this.status.equals(DONE);
        }
    }

    /**
     * Runs the steps of a consumer. It refuses them if another attempt could claim the same id at the same time.
     *
     * @param steps {@code null} if the application defines its own store
     * @param atCommit whether its messages are claimed with the commit
     */
    public static StepRunner of(
            @Nullable Steps steps,
            DeduplicationStrategy strategy,
            boolean atCommit,
            IdempotencyEventListener listener) {
        if (strategy != DeduplicationStrategy.MESSAGE_ID) {
            return refused(
                    "strategy = DeduplicationStrategy.%s keeps no ids of messages, and a step belongs to one. Use the default, DeduplicationStrategy.MESSAGE_ID."
                            .formatted(strategy));
        }
        if (atCommit) {
            return refused(
                    "its messages are claimed with the commit, so that two attempts could take the step at the same"
                            + " time. Write @IdempotentListener(claimAtCommit = \"false\").");
        }
        if (steps == null) {
            return refused(
                    "steps are stored in a table beside the processed messages, but the application defines its own"
                            + " ProcessedMessageStore. Use the provided store.");
        }
        return (id, name, type, call) -> steps.run(id, name, type, call, listener);
    }

    private static StepRunner refused(String reason) {
        return (id, name, type, call) -> {
            throw new IllegalStateException(
                    "Step '%s' was not taken for consumer '%s': %s".formatted(name, id.consumer(), reason));
        };
    }

    private @Nullable Object run(
            MessageId id,
            String name,
            @Nullable Type type,
            Supplier<? extends @Nullable Object> call,
            IdempotencyEventListener listener) {
        if (!StringUtils.hasText(name) || name.length() > LONGEST_NAME) {
            throw new IllegalArgumentException("The name of a step has 1 to %d characters, and '%s' has %d"
                    .formatted(LONGEST_NAME, name, name.length()));
        }
        requireSecondConnection();
        if (type == null) {
            runAtMostOnce(id, name, call, listener);
            return null;
        }
        String obstacle = this.results.obstacleFor(ResultType.of(type));
        if (obstacle != null) {
            throw new IllegalStateException("Results of steps are recorded as JSON, but " + obstacle + ".");
        }
        Step before = find(id, name);
        if (before != null) {
            return read(id, requireDone(id, name, before, listener), type);
        }
        Object result;
        try {
            result = call.get();
        } catch (Throwable ex) {
            listener.step(id, name, StepOutcome.FAILED);
            throw ex;
        }
        ResultStore.Written written = this.results.write(
                "Step '%s' of %s was called, but is not recorded, so that the next attempt calls it again with the same key"
                        .formatted(name, id),
                type,
                result);
        // Another attempt was quicker if this one has lost its claim, as when its connection is cut: both get one
        // result.
        Step other = insert(id, name, DONE, written.text()) ? null : find(id, name);
        listener.step(id, name, StepOutcome.EXECUTED);
        return (other != null) ? read(id, other, type) : written.result();
    }

    /** The intention is inserted, not looked for: of two attempts only one can have inserted it. */
    private void runAtMostOnce(MessageId id, String name, Supplier<?> call, IdempotencyEventListener listener) {
        if (!insert(id, name, STARTED, null)) {
            requireDone(id, name, find(id, name), listener);
            return;
        }
        try {
            call.get();
        } catch (Exception ex) {
            // A request may have arrived whose answer did not.
            throw unknown(id, name, ex, listener);
        }
        inTransaction(
                "record the outcome of", id, () -> this.jdbc.update(this.complete, id.consumer(), id.value(), name));
        listener.step(id, name, StepOutcome.EXECUTED);
    }

    /** An earlier attempt has recorded it, and it is not called again. */
    private static Step requireDone(
            MessageId id, String name, @Nullable Step before, IdempotencyEventListener listener) {
        if (before == null || !before.isDone()) {
            throw unknown(id, name, null, listener);
        }
        listener.step(id, name, StepOutcome.REPLAYED);
        return before;
    }

    private @Nullable Object read(MessageId id, Step step, Type type) {
        return this.results.read(
                "Step '%s' of %s was recorded, and is not called again; but its result".formatted(step.name(), id),
                type,
                step.result(),
                "idempotency_step");
    }

    private static UnknownOutcomeException unknown(
            MessageId id, String name, @Nullable Exception cause, IdempotencyEventListener listener) {
        listener.step(id, name, StepOutcome.UNKNOWN);
        String reason = (cause != null) ? "failed with " + cause : "its attempt ended before its outcome was recorded";
        return new UnknownOutcomeException(
                ("Step '%s' of %s was begun, and %s: whether it happened is unknown, and it is not called again. Find out,"
                                + " settle it with a POST to the endpoint 'idempotency' (consumer, messageId, step, and"
                                + " outcome 'done' or 'not-done'), and redrive the message.")
                        .formatted(name, id, reason),
                cause);
    }

    /** Checks at the first step whether the pool has more connections than the listeners' transactions hold. */
    private void requireSecondConnection() {
        if (this.hasSecondConnection) {
            return;
        }
        Integer size = this.poolSize.get();
        if (size != null && size == 1) {
            throw new IllegalStateException(
                    "A step is recorded on a second connection while the listener's transaction holds"
                            + " the first, but the pool has one only. Set spring.datasource.hikari.maximum-pool-size to 2 or more.");
        }
        int holders = this.consumers.getAsInt();
        if (size != null && size > 1 && size <= holders) {
            logger.warn(
                    "{} consumers share a pool of {} connections. While a step is recorded, its listener needs a second one: if"
                            + " all wait for it, they fail after the pool's connection timeout and repeat what is not recorded"
                            + " yet. Set spring.datasource.hikari.maximum-pool-size to {} or more.",
                    holders,
                    size,
                    holders + 1);
        }
        this.hasSecondConnection = true;
    }

    private @Nullable Step find(MessageId id, String name) {
        return DataAccessUtils.singleResult(
                query(id, this.find + " and step_name = ?", id.consumer(), id.value(), name));
    }

    /** The steps of a message, by name. */
    public List<Step> find(MessageId id) {
        return query(id, this.find + " order by step_name", id.consumer(), id.value());
    }

    private List<Step> query(MessageId id, String sql, Object... parameters) {
        RowMapper<Step> steps = (row, number) -> new Step(
                row.getString(1), row.getString(2), row.getString(3), EpochSeconds.toInstant(row.getBigDecimal(4)));
        return inTransaction("look up", id, () -> this.jdbc.query(sql, steps, parameters));
    }

    /** Inserts a step, unless it is there. */
    private boolean insert(MessageId id, String name, String status, @Nullable String result) {
        try {
            inTransaction(
                    "record", id, () -> this.jdbc.update(this.insert, id.consumer(), id.value(), name, status, result));
            return true;
        } catch (DuplicateKeyException ex) {
            // Its own transaction, which has ended.
            return false;
        }
    }

    /** Records whether a step that was begun has happened; returns {@code false} if there is none of unknown outcome. */
    public boolean settle(MessageId id, String name, boolean done) {
        String sql = done ? this.complete : this.withdraw;
        return inTransaction("settle", id, () -> {
            boolean settled = this.jdbc.update(sql, id.consumer(), id.value(), name) > 0;
            if (settled) {
                this.jdbc.update(this.markSettled, id.consumer(), id.value());
            }
            return settled;
        });
    }

    private <T> T inTransaction(String task, MessageId id, Supplier<T> work) {
        return StoreExceptionTranslator.attempt(
                () -> "%s a step of %s".formatted(task, id), () -> this.transaction.execute(status -> work.get()));
    }
}
