package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class OperatorPropertiesTests {

    @Test
    void aReconciliationIsScheduledWithACronExpressionOrNever() {
        assertThat(new ReconciliationProperties(1, "-").expression()).isNull();
        assertThat(new ReconciliationProperties(1, "0 0 4 * * *").expression()).isNotNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ReconciliationProperties(1, "every night"))
                .withMessageContainingAll("idempotency.reconciliation.cron", "every night");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ReconciliationProperties(1, "0 0 4 31 2 *"))
                .withMessageContainingAll("idempotency.reconciliation.cron", "31 2");
    }

    @Test
    void ratesNumbersAndTimesThatMakeNoSenseAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ReconciliationProperties(0, "-"));
        assertThatIllegalArgumentException().isThrownBy(() -> new DeadLetterProperties(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new DeadLetterProperties(1, 0));
    }
}
