package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OperatorPropertiesTests {

    private static final Duration DAY = Duration.ofDays(1);

    @Test
    void aReconciliationIsScheduledWithACronExpressionOrNever() {
        assertThat(new ReconciliationProperties(1, "-", DAY).expression()).isNull();
        assertThat(new ReconciliationProperties(1, "0 0 4 * * *", DAY).expression())
                .isNotNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ReconciliationProperties(1, "every night", DAY))
                .withMessageContainingAll("idempotency.reconciliation.cron", "every night");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ReconciliationProperties(1, "0 0 4 31 2 *", DAY))
                .withMessageContainingAll("idempotency.reconciliation.cron", "31 2");
    }

    @Test
    void ratesNumbersAndTimesThatMakeNoSenseAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new ReconciliationProperties(0, "-", DAY));
        assertThatIllegalArgumentException().isThrownBy(() -> new ReconciliationProperties(1, "-", Duration.ZERO));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ReconciliationProperties(1, "-", Duration.ofDays(100_000)))
                .withMessageContainingAll("idempotency.reconciliation.window", "3650");
        assertThatIllegalArgumentException().isThrownBy(() -> new DeadLetterProperties(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new DeadLetterProperties(1, 0));
    }
}
