package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import dev.idempotency.benchmarks.stage.Turns;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** Contenders that take turns at the same messages, and whose effects are counted and checked after each round. */
final class ContenderComparison implements AutoCloseable {

    private final JdbcTemplate jdbc;
    private final List<Contender> contenders;
    private final Turns turns;
    private final boolean duplicates;
    private final Map<Contender, Integer> checked = new HashMap<>();

    private ContenderComparison(
            BenchmarkApplication application, List<Contender> contenders, int supply, boolean duplicates) {
        this.jdbc = application.jdbc();
        this.contenders = contenders;
        this.duplicates = duplicates;
        this.turns = application.takeTurns(
                contenders.stream().map(Contender::listener).toList(), supply);
    }

    /** With messages that no contender has seen; each has so many a turn. */
    static ComparedRates ofNewMessages(
            BenchmarkApplication application, List<Contender> contenders, Sizes sizes, int messages) {
        contenders.forEach(contender -> contender.forgetAll(application.jdbc()));
        application.publish(sizes.supply(messages));
        try (ContenderComparison comparison =
                new ContenderComparison(application, contenders, sizes.supply(messages), false)) {
            return comparison.compare(sizes, messages);
        }
    }

    /** With messages that all contenders have had before; each has so many a turn. */
    static ComparedRates ofDuplicates(
            BenchmarkApplication application, List<Contender> contenders, Sizes sizes, int messages) {
        int supply = sizes.supply(messages);
        contenders.forEach(contender -> contender.forgetAll(application.jdbc()));
        application.publish(supply);
        try (ContenderComparison first = new ContenderComparison(application, contenders, supply, false)) {
            contenders.forEach(contender -> first.turns.give(contender.listener(), supply - Sizes.LEFT_OVER));
            first.check();
        }
        try (ContenderComparison again = new ContenderComparison(application, contenders, supply, true)) {
            return again.compare(sizes, messages);
        }
    }

    private ComparedRates compare(Sizes sizes, int messages) {
        List<Variant> variants = this.contenders.stream()
                .map(contender -> new Variant(
                        contender.name(),
                        () -> this.turns.give(contender.listener(), messages).recordsPerSecond()))
                .toList();
        return RoundRobin.run(variants, sizes, this::check);
    }

    private void check() {
        for (Contender contender : this.contenders) {
            int total = this.turns.total(contender.listener());
            int inRound = total - this.checked.getOrDefault(contender, 0);
            contender.checkEffects(this.jdbc, (this.duplicates && contender.deduplicates()) ? 0 : inRound);
            contender.forgetEffects(this.jdbc);
            this.checked.put(contender, total);
        }
    }

    @Override
    public void close() {
        this.turns.close();
    }
}
