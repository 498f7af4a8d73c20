package dev.idempotency.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotencyConfigurationException;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The test kit rejects applications that were not started by a test. */
class OutsideTestsTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(IdempotencyTestAutoConfiguration.class));

    @Test
    void anApplicationThatNoTestHasStartedDoesNotStartWithTheKit() {
        this.application.run(context -> assertThat(context)
                .hasFailed()
                .getFailure()
                .isInstanceOfSatisfying(IdempotencyConfigurationException.class, failure -> assertThat(failure.action())
                        .contains("Give the dependency the test scope", "idempotency.test.allow-outside-tests=true")));
    }

    @Test
    void aNegativeNumberOfDeliveriesIsRefused() {
        this.application
                .withPropertyValues(
                        "idempotency.test.allow-outside-tests=true", "idempotency.test.deliver-again-after=-1")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("idempotency.test.deliver-again-after must not be negative, but is -1"));
    }
}
