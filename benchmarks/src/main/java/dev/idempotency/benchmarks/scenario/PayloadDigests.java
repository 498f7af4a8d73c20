package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.measured.MeasuredDigests;
import dev.idempotency.benchmarks.report.ResultTable;

/** The cost of a digest for each payload: listeners compared with others that store no digests. */
public final class PayloadDigests implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        return BatchListeners.measure("Digests of payloads", MeasuredDigests.comparisons(), setting);
    }
}
