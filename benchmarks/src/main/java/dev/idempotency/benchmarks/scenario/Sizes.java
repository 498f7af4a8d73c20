package dev.idempotency.benchmarks.scenario;

import java.util.List;

/**
 * The sizes of scenarios.
 *
 * @param warmUps rounds whose figures are discarded
 * @param rounds rounds that count
 * @param messages messages per turn: as many as in a poll
 * @param batchMessages messages per turn of batch listeners, which are faster
 * @param tableRows rows in the table before the run
 * @param consumers consumers of a listener, on as many partitions
 * @param cleanupRows rows that are removed
 * @param perSecond the fixed rate for latencies
 * @param rateSeconds the duration of a round at that rate
 * @param startUps applications that are started, of each kind
 * @param probeMillis the duration of an iteration of the interceptor benchmark
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

    /** Just enough to see that everything works. */
    public static final Sizes TINY = new Sizes(0, 1, 20, 100, List.of(0, 100), List.of(1, 3), 100, 100, 1, 1, 10);

    /** Messages that remain in the topic after all turns: a turn ends with the delivery of a further message. */
    static final int LEFT_OVER = 1_000;

    private static final int HALF_A_BATCH = 250;

    /** Returns the number of messages for all turns of a listener; a turn can be longer than requested by up to a batch. */
    int supply(int messages) {
        return (this.warmUps + this.rounds) * (messages + HALF_A_BATCH) + LEFT_OVER;
    }

    /** Returns sizes with fewer turns, for scenarios with more work per turn. */
    Sizes shorter() {
        return withWarmUps(this.warmUps / 3).withRounds((this.rounds + 3) / 4);
    }

    private Sizes withWarmUps(int warmUps) {
        return with(warmUps, this.rounds, this.messages, this.batchMessages);
    }

    public Sizes withRounds(int rounds) {
        return with(this.warmUps, rounds, this.messages, this.batchMessages);
    }

    /** Returns sizes with this many messages per turn, for batch listeners as well. */
    public Sizes withMessages(int messages) {
        return with(this.warmUps, this.rounds, messages, messages);
    }

    /** Returns sizes with this many rows in the table before the run, for scenarios 4, 5, 14, 15 and 17. */
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
