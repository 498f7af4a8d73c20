package dev.idempotency.chaos;

/** Runs listeners of every kind in processes that are killed, and reports messages that were lost or applied twice. */
public final class Chaos {

    private Chaos() {}

    /** Exits with 1 if a guarantee was violated. */
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
