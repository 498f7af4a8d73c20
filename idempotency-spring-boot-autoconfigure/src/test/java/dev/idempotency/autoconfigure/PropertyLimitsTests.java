package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.StartupCheck;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Invalid settings fail the start-up with the name of the property and its valid values. */
class PropertyLimitsTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    IdempotencyStoreAutoConfiguration.class,
                    IdempotencyAutoConfiguration.class,
                    IdempotencyCheckAutoConfiguration.class,
                    IdempotencyListenerAutoConfiguration.class,
                    IdempotencyOperatorsAutoConfiguration.class))
            .withPropertyValues("spring.datasource.url=jdbc:h2:mem:limits", "idempotency.schema.mode=none");

    @ParameterizedTest
    @CsvSource({
        "checks.broker-timeout, 99999999d, and 36500d",
        "checks.broker-timeout, -1s, between 0s",
        "claim.timeout, 0s, between 1ms",
        "claim.timeout, 25h, and 1d",
        "cleanup.interval, 99999999d, and 36500d",
        "cleanup.interval, 0s, between 1ms",
        "results.retention, 0s, between 1ms",
        "cleanup.orphans.after, 23h, between 1d",
        "dead-letters.max-redrives, 0, between 1",
        "dead-letters.suffix, ' ', one or more letters",
        "dead-letters.suffix, /dlt, letters",
        "errors.initial-interval, 0s, a millisecond or more",
        "key.headers, '', must name one header or more",
        "retention, 60000d, 'retention must be at most 36500d, but is 60000d'",
        "inbox.retention.failed, 99999999d, and 36500d",
        "cleanup.orphans.after, 99999999d, and 36500d",
        "checks.relaxed, key-expression, 'cannot be relaxed: No message would have a key, or a version.'",
        "errors.max-attempts, 0, idempotency.errors.max-attempts must be 1 or more",
        "errors.max-interval, 9999999999d, at most 365 days",
        "errors.max-interval, 1ms, must not be shorter",
        "errors.outage.max-interval, -1s, a millisecond or more",
        "errors.outage.max-interval, 9223372036854775807s, at most 365 days",
        "inbox.max-payload, 2GB, between 0B and",
        "metrics.store-refresh-interval, 99999999d, and 36500d",
        "metrics.store-refresh-interval, 0s, between 1ms",
        "dead-letters.redrives-per-second, 0, between 1",
        "reconciliation.records-per-second, 0, between 1",
        "results.max-size, 0B, between 1B and"
    })
    void aSettingThatMakesNoSenseFailsTheStartWithItsNameAndWhatItMayBe(String name, String value, String reason) {
        String group = "idempotency." + name.substring(0, Math.max(0, name.lastIndexOf('.')));
        this.runner.withPropertyValues("idempotency." + name + "=" + value).run(context -> assertThat(context)
                .getFailure()
                .rootCause()
                .message()
                .contains(group)
                .contains(reason));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void unknownPropertiesAreReportedWithTheNearestName(CapturedOutput output) {
        this.runner
                .withPropertyValues(
                        "idempotency.retentoin=3d", "idempotency.errors.maxAttempts=3", "idempotency.key.headers[0]=id")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("Unknown property")
                .contains("'idempotency.retentoin' is ignored. Did you mean 'idempotency.retention'?");
    }

    @Test
    void relaxedChecksAreNamedInAnySpellingAndUnknownOnesAreRefused() {
        this.runner.withPropertyValues("idempotency.checks.relaxed=autocommit").run(context -> assertThat(
                        context.getBean(IdempotencyProperties.class).checks().relaxed())
                .containsExactly(StartupCheck.AUTO_COMMIT));
        this.runner
                .withPropertyValues("idempotency.checks.relaxed=auto-comit")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("auto-comit"));
    }
}
