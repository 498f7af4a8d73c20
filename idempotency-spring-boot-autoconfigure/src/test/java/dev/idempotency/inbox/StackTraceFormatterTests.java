package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.kafka.RawRecordProducers;
import java.sql.SQLException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;

class StackTraceFormatterTests {

    private static Throwable deep(int depth, Throwable cause) {
        return (depth > 0) ? deep(depth - 1, cause) : new IllegalStateException("wrapper", cause);
    }

    @Test
    void aShortTraceIsKeptAsItIs() {
        RuntimeException failure = new RuntimeException("short");
        failure.setStackTrace(new StackTraceElement[] {new StackTraceElement("A", "b", "A.java", 1)});
        assertThat(StackTraceFormatter.format(failure).lines())
                .containsExactly("java.lang.RuntimeException: short", "\tat A.b(A.java:1)");
    }

    @Test
    void theLastCauseIsThereHoweverLongTheTraceBeforeItIs() {
        String text = StackTraceFormatter.format(deep(300, deep(300, new IllegalArgumentException("the reason"))));
        assertThat(text)
                .startsWith("java.lang.IllegalStateException: wrapper")
                .contains("Caused by: java.lang.IllegalArgumentException: the reason", "\tat dev.idempotency.inbox");
        assertThat(text.length()).isLessThan(8_000);
    }

    @Test
    void aFailureThatCannotBePrintedIsNamed() {
        assertThat(StackTraceFormatter.format(endless()))
                .contains(" cannot be printed: java.lang.StackOverflowError")
                .hasSizeLessThan(8_100);
        IllegalStateException mute = new IllegalStateException() {

            @Override
            public String getMessage() {
                throw new UnsupportedOperationException();
            }
        };
        assertThat(StackTraceFormatter.format(mute))
                .contains("cannot be printed: java.lang.UnsupportedOperationException");
    }

    private static RuntimeException endless() {
        return new RuntimeException() {

            @Override
            public synchronized Throwable getCause() {
                return endless();
            }
        };
    }

    @Test
    void causesInACircleAreFollowedOnce() {
        IllegalStateException outer = new IllegalStateException("outer");
        RecordTooLargeException inner = new RecordTooLargeException("inner", outer);
        outer.initCause(inner);
        assertThat(StackTraceFormatter.format(outer)).contains("outer", "inner", "CIRCULAR REFERENCE");
        assertThat(RawRecordProducers.isRefusal(outer)).isTrue();
        assertThat(RawRecordProducers.isRefusal(endless())).isFalse();
        SQLException sql = new SQLException("violated\n secret", "23505", outer);
        DataIntegrityViolationException translated = new DataIntegrityViolationException("translated", sql);
        IllegalStateException last = new IllegalStateException("last", translated);
        assertThat(StackTraceFormatter.format(
                        SqlExceptionSanitizer.sanitize(new DataIntegrityViolationException("x", last))))
                .contains("violated")
                .doesNotContain("secret");
    }

    @Test
    void whatIsTooLongIsCutAndWhatCannotBeStoredIsReplaced() {
        String text = StackTraceFormatter.format(new IllegalStateException("a\0b" + "x".repeat(20_000)));
        assertThat(text).contains("a?bx").endsWith("x ...").hasSize(8_004);
        assertThat(StackTraceFormatter.toAscii("gr\u00fcn \ud83d\ude00")).isEqualTo("gr?n ?");
    }
}
