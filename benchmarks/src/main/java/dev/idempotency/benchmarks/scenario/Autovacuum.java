package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import java.util.ArrayList;
import java.util.List;

/**
 * A table with as many deletions as insertions, with PostgreSQL's default settings for autovacuum and with the documented
 * ones: measures claims and deletions per second, and the final size of the table.
 */
public final class Autovacuum implements Scenario {

    private static final String DEFAULTS = "PostgreSQL's settings";
    private static final String TUNED = "settings of the table's own";

    static final String SETTINGS = """
            autovacuum_vacuum_scale_factor = 0.02,
            autovacuum_vacuum_insert_scale_factor = 0.05,
            autovacuum_analyze_scale_factor = 0.02,
            autovacuum_vacuum_cost_delay = 0
            """;

    /** Each turn replaces a tenth of the table. */
    private static final int TURNS_PER_TABLE = 10;

    @Override
    public ResultTable measure(Setting setting) {
        Sizes sizes = setting.sizes();
        int rows = sizes.cleanupRows();
        int churned = Math.max(1, rows / TURNS_PER_TABLE);
        try (ClaimTable defaults = new ClaimTable(setting.database(), "vacuum_defaults", "uuidv7()", rows);
                ClaimTable tuned =
                        new ClaimTable(setting.database(), "vacuum_tuned", "uuidv7()", rows).with(SETTINGS)) {
            double before = defaults.megabytes();
            // The default of a minute is as long as a whole turn here, but negligible for the lifetime of a real table.
            defaults.jdbc().execute("alter system set autovacuum_naptime = '1s'");
            defaults.jdbc().queryForList("select pg_reload_conf()");
            ComparedRates compared = RoundRobin.run(
                    List.of(
                            new Variant(DEFAULTS, () -> churn(defaults, churned)),
                            new Variant(TUNED, () -> churn(tuned, churned))),
                    sizes,
                    () -> {});
            List<List<Cell>> table = new ArrayList<>(compared.rowsComparedWith(DEFAULTS));
            table.add(growth(DEFAULTS, defaults, before));
            table.add(growth(TUNED, tuned, before));
            return new ResultTable(
                    "Autovacuum",
                    setting.describe(
                            "%,d rows in the table; %,d more and as many of the oldest removed a turn, %d turns"
                                    .formatted(rows, churned, sizes.warmUps() + sizes.rounds())),
                    ComparedRates.COLUMNS,
                    table,
                    compared.rates());
        }
    }

    private static double churn(ClaimTable table, int rows) {
        return ClaimTable.perSecond(rows, () -> {
            table.claim(rows);
            table.removeOldest(rows);
        });
    }

    private static List<Cell> growth(String name, ClaimTable table, double before) {
        return List.of(
                Cell.of("%s: size at the end, against the table without a deletion; %d vacuums"
                        .formatted(name, table.vacuums())),
                Cell.of(table.megabytes() / before, 2),
                Cell.none(),
                Cell.none());
    }
}
