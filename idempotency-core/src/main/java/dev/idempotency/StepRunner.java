package dev.idempotency;

import java.lang.reflect.Type;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs the steps of a consumer's messages. Internal. */
public interface StepRunner {

    /** Returns the recorded result of a step, or calls it with a key and records what it returns. */
    <T extends @Nullable Object> T run(
            MessageId id, String name, Type type, String key, Function<String, ? extends T> call);

    /** Announces a step and calls it, unless it was announced before. */
    void runAtMostOnce(MessageId id, String name, Runnable call);
}
