package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Claims of random ids (UUIDs of version 4) and of time-ordered ones (version 7), in a table with many rows. */
public final class IdOrder implements Scenario {

    private static final String RANDOM = "random ids, version 4";
    private static final String TIME_ORDERED = "time-ordered ids, version 7";

    /** The number of polls between two checkpoints at about 80 messages per second. */
    private static final int POLLS_PER_TURN = 50;

    @Override
    public ResultTable measure(Setting setting) {
        Sizes sizes = setting.sizes();
        int rows = sizes.tableRows().get(sizes.tableRows().size() - 1);
        int claims = POLLS_PER_TURN * sizes.messages();
        Map<String, List<Double>> wal = new LinkedHashMap<>();
        try (ClaimTable random = new ClaimTable(setting.database(), "ids_random", "gen_random_uuid()", rows);
                ClaimTable ordered = new ClaimTable(setting.database(), "ids_ordered", "uuidv7()", rows)) {
            ComparedRates compared = RoundRobin.run(
                    List.of(
                            new Variant(RANDOM, () -> claim(random, claims, wal, RANDOM)),
                            new Variant(TIME_ORDERED, () -> claim(ordered, claims, wal, TIME_ORDERED))),
                    sizes,
                    () -> {});
            List<List<Cell>> table = new ArrayList<>(compared.rowsComparedWith(RANDOM));
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < wal.get(RANDOM).size(); i++) {
                ratios.add(wal.get(TIME_ORDERED).get(i) / wal.get(RANDOM).get(i));
            }
            Spread ratio = Spread.ofMedian(ratios);
            table.add(List.of(
                    Cell.of("bytes of WAL per claim, time-ordered against random"),
                    Cell.median(ratio, 2),
                    Cell.range(ratio, 2),
                    Cell.none()));
            return new ResultTable(
                    "The order of ids",
                    setting.describe(
                            "%,d rows before, %,d claims a turn, 500 a transaction, a checkpoint before each turn"
                                    .formatted(rows, claims)),
                    ComparedRates.COLUMNS,
                    table,
                    compared.rates());
        }
    }

    private static double claim(ClaimTable table, int claims, Map<String, List<Double>> wal, String name) {
        table.checkpoint();
        double[] rate = new double[1];
        long bytes = table.bytesOfWalDuring(() -> rate[0] = ClaimTable.perSecond(claims, () -> table.claim(claims)));
        wal.computeIfAbsent(name, key -> new ArrayList<>()).add((double) bytes / claims);
        return rate[0];
    }
}
