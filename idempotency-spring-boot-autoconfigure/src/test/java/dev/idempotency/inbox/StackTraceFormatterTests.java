package dev.idempotency.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.kafka.RawRecordProducers;
import org.junit.jupiter.api.Test;

class StackTraceFormatterTests {

    private static Throwable deep(int depth, Throwable cause) {
        return (depth > 0) ? deep(depth - 1, cause) : new IllegalStateException("wrapper", cause);
    }

    @Test
    void theLastCauseIsThereHoweverLongTheTraceBeforeItIs() {
        String text = StackTraceFormatter.format(deep(300, deep(300, new IllegalArgumentException("the\0reason"))));
        assertThat(text)
                .startsWith("java.lang.IllegalStateException: wrapper")
                .contains("Caused by: java.lang.IllegalArgumentException: the?reason", "\tat dev.idempotency.inbox")
                .hasSizeLessThan(8_100);
    }

    @Test
    void aFailureThatCannotBePrintedIsNamed() {
        assertThat(StackTraceFormatter.format(endless()))
                .contains(" cannot be printed: java.lang.StackOverflowError")
                .hasSizeLessThan(8_100);
        assertThat(RawRecordProducers.isRefusal(endless())).isFalse();
    }

    private static RuntimeException endless() {
        return new RuntimeException() {

            @Override
            public synchronized Throwable getCause() {
                return endless();
            }
        };
    }
}
