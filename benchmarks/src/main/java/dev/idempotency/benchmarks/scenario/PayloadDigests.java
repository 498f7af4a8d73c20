package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.measured.MeasuredDigests;
import dev.idempotency.benchmarks.report.ResultTable;

/** What it costs to keep a digest of each payload: listeners compared with those that keep none. */
public final class PayloadDigests implements Scenario {

    @Override
    public ResultTable measure(Setting setting) {
        return BatchListeners.measure("Digests of payloads", MeasuredDigests.comparisons(), setting);
    }
}
