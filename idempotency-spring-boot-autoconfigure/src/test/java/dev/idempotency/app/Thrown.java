package dev.idempotency.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Assertions about exceptions, and a way to throw undeclared ones. */
public final class Thrown {

    private Thrown() {}

    /** Asserts that a call throws an exception of this type, with a message that contains all of these. */
    public static void assertThrown(Class<? extends Throwable> type, ThrowingCallable call, String... messages) {
        assertThatExceptionOfType(type).isThrownBy(call).satisfies(thrown -> assertThat(List.of(messages))
                .allSatisfy(message -> assertThat(thrown).hasMessageContaining(message)));
    }

    /** Throws an undeclared checked exception, as Kotlin code and Lombok's {@code @SneakyThrows} do. */
    public static RuntimeException undeclared(Throwable failure) {
        return Thrown.<RuntimeException>sneak(failure);
    }

    @SuppressWarnings("unchecked") // The cast is not checked at run time.
    private static <T extends Throwable> T sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}
