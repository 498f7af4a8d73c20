package dev.idempotency.internal.redrive;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.redrive.ExceptionPattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExceptionPatternTests {

    @ParameterizedTest
    @CsvSource({
        "java.sql.SQLTimeoutException, true",
        "SQLTimeoutException, true",
        "java.sql.*, true",
        "*TimeoutException, true",
        "*, true",
        "java.*.SQL*Exception, true",
        "TimeoutException, false",
        "sqltimeoutexception, false",
        "*Timeout, false",
        "*Exception*Exception, false",
        "java.sql.SQL[A-Z].*, false"
    })
    void aPatternIsOfTheFullOrOfTheSimpleName(String pattern, boolean fits) {
        ExceptionPattern exception = new ExceptionPattern(pattern);
        assertThat(exception.matches("java.sql.SQLTimeoutException")).isEqualTo(fits);
        assertThat(exception.matches("com.example.Ledger$SQLTimeoutException"))
                .isEqualTo(fits && !pattern.startsWith("java"));
        assertThat(exception.matches(null)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "*a*a*a*b"})
    void aPatternThatSaysNothingOrTakesTooLongIsRefused(String pattern) {
        assertThrown(IllegalArgumentException.class, () -> new ExceptionPattern(pattern));
    }
}
