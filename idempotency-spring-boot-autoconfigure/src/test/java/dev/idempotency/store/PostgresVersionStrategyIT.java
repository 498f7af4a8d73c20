package dev.idempotency.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.testing.TestPostgres;
import java.util.List;
import org.junit.jupiter.api.Test;

class PostgresVersionStrategyIT extends AbstractVersionStrategyIT {

    @Override
    String jdbcUrl() {
        return TestPostgres.createDatabase().jdbcUrl();
    }

    @Test
    void afterOneThatIsNotNewerTheNextOneWritesNothing() {
        admit(at(1, "a", 5));
        assertThat(admit(at(1, "a", 5)).duplicates()).hasSize(1);
        this.transaction.executeWithoutResult(status -> {
            assertThat(this.strategy.admit(List.of(at(2, "a", 4))).stale()).hasSize(1);
            assertThat(this.jdbc.queryForObject("select txid_current_if_assigned()", Long.class))
                    .isNull();
        });
        assertThat(admit(at(3, "a", 6)).admitted()).hasSize(1);
    }
}
