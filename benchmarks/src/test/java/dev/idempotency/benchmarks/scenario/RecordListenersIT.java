package dev.idempotency.benchmarks.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.contender.RecordContenders;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import dev.idempotency.benchmarks.stage.BenchmarkDatabase;
import dev.idempotency.benchmarks.stage.Durability;
import dev.idempotency.benchmarks.stage.Turns;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RecordListenersIT {

    private static BenchmarkDatabase database;

    @BeforeAll
    static void startDatabase() {
        database = BenchmarkDatabase.start(Durability.RELAXED);
    }

    @AfterAll
    static void stopDatabase() {
        database.close();
    }

    @Test
    void everyContenderAppliesEveryMessageOnce() {
        ResultTable table =
                new RecordListeners().measure(new Scenario.Setting(Durability.RELAXED, database, Sizes.TINY));
        assertThat(table.samples())
                .hasSameSizeAs(RecordContenders.all())
                .allSatisfy(
                        (contender, rates) -> assertThat(rates).as(contender).hasSize(Sizes.TINY.rounds()));
    }

    @Test
    void anEffectThatHappenedTwiceOrNotAtAllIsSeen() {
        Contender raw = RecordContenders.RAW;
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

    private static void consume(BenchmarkApplication application, Contender contender, int records) {
        try (Turns turns = application.takeTurns(List.of(contender.listener()), records + 1)) {
            turns.give(contender.listener(), records);
        }
    }
}
