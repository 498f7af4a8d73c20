package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FailureTextTests {

    private static Throwable deep(int depth, Throwable cause) {
        return (depth > 0) ? deep(depth - 1, cause) : new IllegalStateException("wrapper", cause);
    }

    @Test
    void aShortTraceIsKeptAsItIs() {
        RuntimeException failure = new RuntimeException("short");
        failure.setStackTrace(new StackTraceElement[] {new StackTraceElement("A", "b", "A.java", 1)});
        assertThat(FailureText.of(failure).lines())
                .containsExactly("java.lang.RuntimeException: short", "\tat A.b(A.java:1)");
    }

    @Test
    void theLastCauseIsThereHoweverLongTheTraceBeforeItIs() {
        String text = FailureText.of(deep(300, deep(300, new IllegalArgumentException("the reason"))));
        assertThat(text)
                .startsWith("java.lang.IllegalStateException: wrapper")
                .contains("Caused by: java.lang.IllegalArgumentException: the reason", "\tat dev.idempotency.inbox");
        assertThat(text.length()).isLessThan(8_000);
    }

    @Test
    void whatIsTooLongIsCutAndWhatCannotBeStoredIsReplaced() {
        String text = FailureText.of(new IllegalStateException("a\0b" + "x".repeat(20_000)));
        assertThat(text).contains("a?bx").endsWith("x ...").hasSize(8_004);
        assertThat(FailureText.plain("gr\u00fcn \ud83d\ude00")).isEqualTo("gr?n ?");
    }
}
