package dev.idempotency.internal.database;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Databases that identify themselves as PostgreSQL, with the versions that they report. */
@ExtendWith(OutputCaptureExtension.class)
class PostgresLookalikeTests {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc 13.2.0, 64-bit | false
            PostgreSQL 17.2 (Debian 17.2-1.pgdg120+1) on aarch64-unknown-linux-gnu, compiled by gcc | false
            PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang | true
            CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu, built 2025/05/09, go1.23) | true
            PostgreSQL 16 | true
            """)
    void aWarningSaysSo(String version, boolean warned, CapturedOutput output) {
        assertThat(DialectResolver.postgres(version)).isInstanceOf(PostgresDialect.class);
        assertThat(output.getOut().contains("The database '" + version + "' is not PostgreSQL itself"))
                .isEqualTo(warned);
    }
}
