package dev.idempotency.internal.step;

import dev.idempotency.MessageId;
import dev.idempotency.ResultException;
import dev.idempotency.StepRunner;
import dev.idempotency.UnknownOutcomeException;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.event.StepOutcome;
import dev.idempotency.internal.result.ResultType;
import dev.idempotency.internal.step.StepTable.Step;
import dev.idempotency.result.ResultConverter;
import java.lang.reflect.Type;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/** Runs steps, each of which is recorded in transactions of its own, on a second connection. */
public final class Steps {

    private static final int LONGEST_NAME = 100;

    /** For applications with a store of their own. */
    public static final StepRunner OF_OTHER_STORE =
            refused("steps are recorded in a table beside that of processed messages, but the application has a"
                    + " ProcessedMessageStore of its own. Use the provided store.");

    private final StepTable table;
    private final Supplier<@Nullable ResultConverter> converter;
    private final SecondConnection connections;

    /** {@code converter} writes results, if anybody can. */
    public Steps(StepTable table, Supplier<@Nullable ResultConverter> converter, SecondConnection connections) {
        this.table = table;
        this.converter = converter;
        this.connections = connections;
    }

    /** Runs the steps of a consumer. */
    public StepRunner of(IdempotencyEventListener listener) {
        return new Runner(listener);
    }

    /** Refuses all steps, for a reason that ends with the remedy. */
    public static StepRunner refused(String reason) {
        return new Refusal(reason);
    }

    private record Refusal(String reason) implements StepRunner {

        @Override
        public <T extends @Nullable Object> T run(
                MessageId id, String name, Type type, String key, Function<String, ? extends T> call) {
            throw refusal(id, name);
        }

        @Override
        public void runAtMostOnce(MessageId id, String name, Runnable call) {
            throw refusal(id, name);
        }

        private IllegalStateException refusal(MessageId id, String name) {
            return new IllegalStateException(
                    "Step '%s' was not taken for consumer '%s': %s".formatted(name, id.consumer(), this.reason));
        }
    }

    private final class Runner implements StepRunner {

        private final IdempotencyEventListener listener;

        Runner(IdempotencyEventListener listener) {
            this.listener = listener;
        }

        @Override
        public <T extends @Nullable Object> T run(
                MessageId id, String name, Type type, String key, Function<String, ? extends T> call) {
            require(name);
            ResultConverter json = requireConverter(ResultType.of(type));
            Step before = Steps.this.table.find(id, name);
            if (before != null) {
                return replay(id, before, json, type);
            }
            T result;
            try {
                result = call.apply(key);
            } catch (Throwable ex) {
                this.listener.step(id, name, StepOutcome.FAILED);
                throw ex;
            }
            String text = write(id, name, json, type, result);
            // Another attempt was quicker if this one has lost its claim, as when its connection is cut: both get one
            // result.
            Step first = Steps.this.table.insert(id, Step.done(name, text)) ? null : Steps.this.table.find(id, name);
            this.listener.step(id, name, StepOutcome.EXECUTED);
            return read(id, (first != null) ? first : Step.done(name, text), json, type);
        }

        private <T extends @Nullable Object> T replay(MessageId id, Step before, ResultConverter json, Type type) {
            if (!before.isDone()) {
                throw unknown(id, before.name(), null);
            }
            this.listener.step(id, before.name(), StepOutcome.REPLAYED);
            return read(id, before, json, type);
        }

        /** The intention is inserted, not looked for: of two attempts only one can have inserted it. */
        @Override
        public void runAtMostOnce(MessageId id, String name, Runnable call) {
            require(name);
            if (!Steps.this.table.insert(id, Step.started(name))) {
                Step before = Steps.this.table.find(id, name);
                if (before == null || !before.isDone()) {
                    throw unknown(id, name, null);
                }
                this.listener.step(id, name, StepOutcome.REPLAYED);
                return;
            }
            try {
                call.run();
            } catch (Exception ex) {
                // A request may have arrived whose answer did not.
                throw unknown(id, name, ex);
            }
            Steps.this.table.complete(id, name);
            this.listener.step(id, name, StepOutcome.EXECUTED);
        }

        private UnknownOutcomeException unknown(MessageId id, String name, @Nullable Exception cause) {
            this.listener.step(id, name, StepOutcome.UNKNOWN);
            return new UnknownOutcomeException(
                    ("Step '%s' of %s was begun, and %s: whether it happened is unknown, and it is not called again. Find out,"
                                    + " settle it with a POST to the endpoint 'idempotency' (consumer, messageId, step, and"
                                    + " outcome 'done' or 'not-done'), and redrive the message.")
                            .formatted(
                                    name,
                                    id,
                                    (cause != null)
                                            ? "failed with " + cause
                                            : "its attempt ended before its outcome was recorded"),
                    cause);
        }

        private void require(String name) {
            if (!StringUtils.hasText(name) || name.length() > LONGEST_NAME) {
                throw new IllegalArgumentException("The name of a step has 1 to %d characters, and '%s' has %d"
                        .formatted(LONGEST_NAME, name, name.length()));
            }
            Steps.this.connections.require();
        }
    }

    /** Looks before the call whether results can be recorded at all. */
    private ResultConverter requireConverter(Type type) {
        ResultConverter found = this.converter.get();
        if (found == null) {
            throw new IllegalStateException(
                    "Results of steps are recorded as JSON, and there is no JSON mapper (tools.jackson.databind.json.JsonMapper)"
                            + " on the class path. Add spring-boot-starter-json, or define a ResultConverter.");
        }
        found.write(null, type);
        return found;
    }

    private static String write(MessageId id, String name, ResultConverter json, Type type, @Nullable Object result) {
        try {
            String text = Objects.requireNonNull(json.write(result, type), "its ResultConverter has written nothing");
            json.read(text, type);
            return text;
        } catch (RuntimeException | StackOverflowError ex) {
            throw new ResultException(
                    ("Step '%s' of %s was called, but is not recorded, as its result cannot be written and read again as a %s:"
                                    + " %s. The next attempt calls it again, with the same key. Return something that can, such"
                                    + " as a record of plain values.")
                            .formatted(name, id, type.getTypeName(), ex.getMessage()),
                    ex);
        }
    }

    @SuppressWarnings("unchecked") // A converter reads what it is asked for, as the caller's cast will tell.
    private static <T extends @Nullable Object> T read(MessageId id, Step step, ResultConverter json, Type type) {
        try {
            return (T) json.read(Objects.requireNonNull(step.result(), "it was recorded without a result"), type);
        } catch (RuntimeException | StackOverflowError ex) {
            throw new ResultException(
                    ("Step '%s' of %s was recorded, and is not called again; but its result cannot be read as a %s: %s. Let that"
                                    + " class read what was written, or delete the row in idempotency_step to have it called"
                                    + " again.")
                            .formatted(step.name(), id, type.getTypeName(), ex.getMessage()),
                    ex);
        }
    }
}
