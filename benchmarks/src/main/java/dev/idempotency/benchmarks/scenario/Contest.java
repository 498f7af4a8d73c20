package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;
import dev.idempotency.benchmarks.stage.Turns;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** Contenders that take turns at the same messages, and whose effects are counted and checked after each round. */
final class Contest implements AutoCloseable {

    private final JdbcTemplate jdbc;
    private final List<Contender> contenders;
    private final Turns turns;
    private final boolean duplicates;
    private final Map<Contender, Integer> checked = new HashMap<>();

    private Contest(BenchmarkApplication application, List<Contender> contenders, int supply, boolean duplicates) {
        this.jdbc = application.jdbc();
        this.contenders = contenders;
        this.duplicates = duplicates;
        this.turns = application.takeTurns(
                contenders.stream().map(Contender::listener).toList(), supply);
    }

    /** With messages that no contender has seen; each has so many a turn. */
    static Standings ofNewMessages(
            BenchmarkApplication application, List<Contender> contenders, Sizes sizes, int messages) {
        contenders.forEach(contender -> contender.forgetAll(application.jdbc()));
        application.publish(sizes.supply(messages));
        try (Contest contest = new Contest(application, contenders, sizes.supply(messages), false)) {
            return contest.race(sizes, messages);
        }
    }

    /** With messages that all contenders have had before; each has so many a turn. */
    static Standings ofDuplicates(
            BenchmarkApplication application, List<Contender> contenders, Sizes sizes, int messages) {
        int supply = sizes.supply(messages);
        contenders.forEach(contender -> contender.forgetAll(application.jdbc()));
        application.publish(supply);
        try (Contest first = new Contest(application, contenders, supply, false)) {
            contenders.forEach(contender -> first.turns.give(contender.listener(), supply - Sizes.LEFT_OVER));
            first.check();
        }
        try (Contest again = new Contest(application, contenders, supply, true)) {
            return again.race(sizes, messages);
        }
    }

    private Standings race(Sizes sizes, int messages) {
        List<Lane> lanes = this.contenders.stream()
                .map(contender -> new Lane(
                        contender.name(),
                        () -> this.turns.give(contender.listener(), messages).recordsPerSecond()))
                .toList();
        return Race.run(lanes, sizes, this::check);
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
