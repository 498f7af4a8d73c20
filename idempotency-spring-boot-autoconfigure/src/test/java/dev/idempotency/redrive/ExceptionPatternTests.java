package dev.idempotency.redrive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExceptionPatternTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.sql.SQLTimeoutException",
                "SQLTimeoutException",
                "java.sql.*",
                "*TimeoutException",
                "SQL*",
                "*",
                "**",
                "java.*.SQL*Exception",
                "*.sql.*Time*out*",
                "SQL*Exception*",
                "*a*a*.*S*"
            })
    void aPatternIsOfTheFullOrOfTheSimpleName(String pattern) {
        assertThat(new ExceptionPattern(pattern).matches("java.sql.SQLTimeoutException"))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TimeoutException",
                "sqltimeoutexception",
                "java.sql",
                "*Timeout",
                "SQLTimeout*TimeoutException",
                "*Exception*Exception",
                "java.sql.SQLTimeoutException*n",
                "java.sql.SQL[A-Z].*"
            })
    void nothingElseFits(String pattern) {
        assertThat(new ExceptionPattern(pattern).matches("java.sql.SQLTimeoutException"))
                .isFalse();
    }

    @Test
    void nestedClassesHaveSimpleNamesToo() {
        assertThat(new ExceptionPattern("Rejected").matches("com.example.Ledger$Rejected"))
                .isTrue();
        assertThat(new ExceptionPattern("*").matches(null)).isFalse();
    }

    /** With a way back at every asterisk it would take longer than anybody lives. */
    @Test
    void aNameThatFitsNearlyEverywhereIsComparedAtOnce() {
        assertThat(new ExceptionPattern("*a".repeat(100) + "*b").matches("a".repeat(500)))
                .isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> new ExceptionPattern("*".repeat(301)));
        assertThatIllegalArgumentException().isThrownBy(() -> new ExceptionPattern(" "));
    }
}
