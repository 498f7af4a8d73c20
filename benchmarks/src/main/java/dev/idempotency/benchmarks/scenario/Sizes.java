package dev.idempotency.benchmarks.scenario;

import java.util.List;

/**
 * How much of everything.
 *
 * @param warmUps rounds whose figures are thrown away
 * @param rounds rounds that count
 * @param messages messages of a turn: as many as a poll brings
 * @param batchMessages messages of a turn of batch listeners, which are faster
 * @param tableRows rows in the table before the run
 * @param consumers consumers of a listener, on as many partitions
 * @param cleanupRows rows that are removed
 * @param perSecond the fixed rate for latencies
 * @param rateSeconds how long a round at that rate takes
 * @param startUps applications that are started, of each kind
 * @param probeMillis how long an iteration of the interceptor alone takes
 */
public record Sizes(
        int warmUps,
        int rounds,
        int messages,
        int batchMessages,
        List<Integer> tableRows,
        List<Integer> consumers,
        int cleanupRows,
        int perSecond,
        int rateSeconds,
        int startUps,
        int probeMillis) {

    public static final Sizes FULL = new Sizes(
            30,
            60,
            500,
            2_500,
            List.of(0, 1_000_000, 2_000_000, 5_000_000, 10_000_000),
            List.of(1, 2, 4, 8),
            1_000_000,
            200,
            10,
            9,
            1_000);

    public static final Sizes QUICK =
            new Sizes(2, 6, 500, 2_500, List.of(0, 50_000, 100_000), List.of(1, 2, 4), 50_000, 200, 2, 3, 200);

    /** Enough to see that everything works, and nothing more. */
    public static final Sizes TINY = new Sizes(0, 1, 20, 100, List.of(0, 100), List.of(1, 3), 100, 100, 1, 1, 10);

    /** Messages that stay in the topic when all turns are over: a turn ends when there is one more to be delivered. */
    static final int LEFT_OVER = 1_000;

    private static final int HALF_A_BATCH = 250;

    /** How many messages there must be for all turns of one listener; a turn can be longer than asked by up to a batch. */
    int supply(int messages) {
        return (this.warmUps + this.rounds) * (messages + HALF_A_BATCH) + LEFT_OVER;
    }

    /** Fewer turns, where each has more to it. */
    Sizes shorter() {
        return withWarmUps(this.warmUps / 3).withRounds((this.rounds + 3) / 4);
    }

    private Sizes withWarmUps(int warmUps) {
        return with(warmUps, this.rounds, this.messages, this.batchMessages);
    }

    public Sizes withRounds(int rounds) {
        return with(this.warmUps, rounds, this.messages, this.batchMessages);
    }

    /** That many messages a turn, and as many for batch listeners. */
    public Sizes withMessages(int messages) {
        return with(this.warmUps, this.rounds, messages, messages);
    }

    /** That many rows in the table before the run, in scenarios 4, 5, 14, 15 and 17. */
    public Sizes withRows(int rows) {
        return new Sizes(
                this.warmUps,
                this.rounds,
                this.messages,
                this.batchMessages,
                List.of(0, rows),
                this.consumers,
                rows,
                this.perSecond,
                this.rateSeconds,
                this.startUps,
                this.probeMillis);
    }

    private Sizes with(int warmUps, int rounds, int messages, int batchMessages) {
        return new Sizes(
                warmUps,
                rounds,
                messages,
                batchMessages,
                this.tableRows,
                this.consumers,
                this.cleanupRows,
                this.perSecond,
                this.rateSeconds,
                this.startUps,
                this.probeMillis);
    }
}
