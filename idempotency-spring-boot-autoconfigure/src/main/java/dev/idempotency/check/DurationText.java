package dev.idempotency.check;

import java.time.Duration;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Durations as they are written in settings, such as {@code 7d}. */
final class DurationText {

    private DurationText() {}

    static String of(Duration duration) {
        return DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE);
    }
}
