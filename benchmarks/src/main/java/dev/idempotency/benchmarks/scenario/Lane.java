package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.contender.Contender;
import dev.idempotency.benchmarks.stage.BenchmarkApplication;

/**
 * One of several measurements that take turns.
 *
 * @param name what it is called in the table
 * @param heat measures once
 */
record Lane(String name, Heat heat) {

    /** Measures once, in records a second. */
    @FunctionalInterface
    interface Heat {

        double run();
    }

    /** A contender that has never seen the messages applies each of them once. */
    static Lane ofNewMessages(BenchmarkApplication application, Contender contender, int messages) {
        return new Lane(contender.name(), () -> {
            contender.forgetAll(application.jdbc());
            double rate = application.consume(contender.listener(), messages).recordsPerSecond();
            contender.checkEffects(application.jdbc(), messages);
            return rate;
        });
    }
}
