package dev.idempotency.benchmarks.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.benchmarks.harness.BenchmarkDatabase;
import dev.idempotency.benchmarks.harness.Durability;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScenariosIT {

    private static BenchmarkDatabase database;

    @BeforeAll
    static void startDatabase() {
        database = BenchmarkDatabase.start(Durability.RELAXED, false, 0, 0);
    }

    @AfterAll
    static void stopDatabase() {
        database.close();
    }

    static Stream<Scenario> scenarios() {
        return Stream.of(
                new BatchListeners(),
                new DuplicatesOnly(),
                new Growth(),
                new CleanupWhileConsuming(),
                new PayloadDigests(),
                new Operations(),
                new ScaleOut(),
                new IdOrder(),
                new Autovacuum(),
                new Reconciling());
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void everyLaneRunsAndHasTheEffectsThatAreExpectedOfIt(Scenario scenario) {
        ResultTable table =
                scenario.measure(new Scenario.Setting(Durability.RELAXED, database, Sizes.TINY, Selection.ALL));
        assertThat(table.samples())
                .hasSizeGreaterThan(1)
                .allSatisfy((variant, rates) ->
                        assertThat(rates).as(variant).isNotEmpty().allMatch(rate -> rate > 0));
    }
}
