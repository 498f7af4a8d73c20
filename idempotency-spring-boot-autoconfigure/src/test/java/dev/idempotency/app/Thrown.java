package dev.idempotency.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What is thrown, and says what it should. */
public final class Thrown {

    private Thrown() {}

    /** Asserts that a call throws such an exception, whose message contains all of these. */
    public static void assertThrown(Class<? extends Throwable> type, ThrowingCallable call, String... messages) {
        assertThatExceptionOfType(type).isThrownBy(call).satisfies(thrown -> assertThat(List.of(messages))
                .allSatisfy(message -> assertThat(thrown).hasMessageContaining(message)));
    }

    /** Throws what is not declared, as code in Kotlin does, or Lombok's {@code @SneakyThrows}. */
    public static RuntimeException undeclared(Throwable failure) {
        return Thrown.<RuntimeException>sneak(failure);
    }

    @SuppressWarnings("unchecked") // Nobody looks at run time.
    private static <T extends Throwable> T sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}
