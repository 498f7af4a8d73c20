package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** H2 may be told to take no notice of case, and then would two ids be one. */
class CaseInsensitiveH2Tests {

    @Test
    void aDatabaseThatTakesNoNoticeOfCaseIsRefused() {
        assertThatIllegalStateException()
                .isThrownBy(() -> DialectResolver.resolve(
                        new DriverManagerDataSource("jdbc:h2:mem:no-case;MODE=MySQL;IGNORECASE=TRUE")))
                .withMessageContaining("IGNORECASE");
        assertThat(DialectResolver.resolve(new DriverManagerDataSource("jdbc:h2:mem:with-case;MODE=MySQL")))
                .isInstanceOf(H2Dialect.class);
    }
}
