package dev.idempotency.internal.result;

import java.util.Arrays;
import java.util.Set;

/** Results that are completed later, when the transaction is over. */
public final class AsynchronousResult {

    /** By names, as most of these types are of libraries that an application may not have. */
    private static final Set<String> TYPES = Set.of(
            "java.util.concurrent.Future",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Flow$Publisher",
            "org.reactivestreams.Publisher",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow");

    private static final ClassValue<Boolean> KNOWN = new ClassValue<>() {

        @Override
        protected Boolean computeValue(Class<?> type) {
            return TYPES.contains(type.getName())
                    || Arrays.stream(type.getInterfaces()).anyMatch(AsynchronousResult::isOf)
                    || (type.getSuperclass() != null && isOf(type.getSuperclass()));
        }
    };

    private AsynchronousResult() {}

    /** Whether a result of this type is one. */
    public static boolean isOf(Class<?> type) {
        return KNOWN.get(type);
    }
}
