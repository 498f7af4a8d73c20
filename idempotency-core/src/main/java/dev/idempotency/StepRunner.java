package dev.idempotency;

import java.lang.reflect.Type;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs the steps of a consumer's messages. Internal. */
@FunctionalInterface
public interface StepRunner {

    /**
     * Returns the recorded result of a step, or calls it and records what it returns.
     *
     * @param type the type of the result, or {@code null} for a step that is announced first and never called twice
     */
    @Nullable
    Object run(MessageId id, String name, @Nullable Type type, Supplier<? extends @Nullable Object> call);
}
