package dev.idempotency.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.ZonedDateTime;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.scheduling.support.CronExpression;

class ReconciliationScheduleTests {

    @ParameterizedTest
    @CsvSource({
        "2026-10-23T04:00+02:00[Europe/Berlin], 24h",
        "2026-10-24T04:00+02:00[Europe/Berlin], 25h",
        "2026-03-28T04:00+01:00[Europe/Berlin], 23h"
    })
    void itRunsAtTheHourOfTheClockAlsoOnTheDayOnWhichClocksAreChanged(ZonedDateTime last, String pause) {
        ReconciliationSchedule nightly = new ReconciliationSchedule(null, CronExpression.parse("0 0 4 * * *"));
        assertThat(nightly.pauseFrom(last)).isEqualTo(Duration.parse("PT" + pause));
    }
}
