package dev.idempotency.benchmarks.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.benchmarks.harness.AlternatingListeners;
import dev.idempotency.benchmarks.harness.BenchmarkApplication;
import dev.idempotency.benchmarks.harness.BenchmarkDatabase;
import dev.idempotency.benchmarks.harness.Durability;
import dev.idempotency.benchmarks.measured.MeasuredListener;
import dev.idempotency.benchmarks.measured.MeasuredRecordListeners;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RecordListenersIT {

    private static BenchmarkDatabase database;

    @BeforeAll
    static void startDatabase() {
        database = BenchmarkDatabase.start(Durability.RELAXED, false, 0, 0);
    }

    @AfterAll
    static void stopDatabase() {
        database.close();
    }

    @Test
    void everyListenerAppliesEveryMessageOnce() {
        ResultTable table = new RecordListeners()
                .measure(new Scenario.Setting(Durability.RELAXED, database, Sizes.TINY, Selection.ALL));
        assertThat(table.samples())
                .hasSameSizeAs(MeasuredRecordListeners.all())
                .allSatisfy((listener, rates) -> assertThat(rates).as(listener).hasSize(Sizes.TINY.rounds()));
    }

    @Test
    void anEffectThatHappenedTwiceOrNotAtAllIsSeen() {
        MeasuredListener raw = MeasuredRecordListeners.RAW;
        try (BenchmarkApplication application = BenchmarkApplication.start(database, raw.classes())) {
            raw.forgetAll(application.jdbc());
            application.publish(3);
            consume(application, raw, 2);
            raw.checkEffects(application.jdbc(), 2);
            assertThatIllegalStateException()
                    .isThrownBy(() -> raw.checkEffects(application.jdbc(), 3))
                    .withMessageContaining("2 effects of 2 messages, where 3");
            consume(application, raw, 2);
            assertThatIllegalStateException()
                    .isThrownBy(() -> raw.checkEffects(application.jdbc(), 4))
                    .withMessageContaining("4 effects of 2 messages, where 4");
        }
    }

    private static void consume(BenchmarkApplication application, MeasuredListener listener, int records) {
        try (AlternatingListeners turns = application.alternate(List.of(listener.id()), records + 1)) {
            turns.measure(listener.id(), records);
        }
    }
}
