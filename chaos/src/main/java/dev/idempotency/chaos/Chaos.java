package dev.idempotency.chaos;

/** Runs listeners of every kind in processes that are killed, and shows what was lost and what was applied twice. */
public final class Chaos {

    private Chaos() {}

    /** Ends with 1 if a promise was broken. */
    public static void main(String[] arguments) throws Exception {
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException ex) {
            System.err.println(ex.getMessage());
            System.exit(2);
            return;
        }
        Report report = new ChaosRun(options, System.out::println).run();
        System.out.println(report.markdown());
        System.exit(report.isClean() ? 0 : 1);
    }
}
