package dev.idempotency.benchmarks;

import dev.idempotency.benchmarks.scenario.Selection;
import dev.idempotency.benchmarks.scenario.Sizes;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Options of the command.
 *
 * @param quick whether to run only briefly
 * @param scenarios the numbers of the scenarios to run
 * @param sizes the sizes of scenarios
 * @param selection the listeners to measure
 * @param ring whether ids contain their time and are remembered in a ring of tables
 * @param flushMicros the additional time of each commit, to simulate a slower disk
 * @param distanceMicros the additional time of each round trip to the database, to simulate a network
 */
record Options(
        boolean quick,
        SortedSet<Integer> scenarios,
        Sizes sizes,
        Selection selection,
        boolean ring,
        int flushMicros,
        int distanceMicros) {

    private static final String USAGE =
            "Options: --quick, --scenarios=1,2,…, --rounds=N, --messages=N, --rows=N, --only=raw,offset,…, --ring, --flush=MICROS,"
                    + " --distance=MICROS.";

    static Options parse(String... arguments) {
        boolean quick = Arrays.asList(arguments).contains("--quick");
        boolean ring = Arrays.asList(arguments).contains("--ring");
        SortedSet<Integer> scenarios = new TreeSet<>(quick ? Benchmarks.QUICK : Benchmarks.SCENARIOS.keySet());
        Sizes sizes = quick ? Sizes.QUICK : Sizes.FULL;
        Selection selection = Selection.ALL;
        int flushMicros = 0;
        int distanceMicros = 0;
        for (String argument : arguments) {
            String value = argument.substring(argument.indexOf('=') + 1);
            if (argument.startsWith("--scenarios=")) {
                scenarios = numbers(value);
            } else if (argument.startsWith("--rounds=")) {
                sizes = sizes.withRounds(number(value));
            } else if (argument.startsWith("--messages=")) {
                sizes = sizes.withMessages(number(value));
            } else if (argument.startsWith("--only=")) {
                selection = new Selection(words(value));
            } else if (argument.startsWith("--rows=")) {
                sizes = sizes.withRows(number(value));
            } else if (argument.startsWith("--flush=")) {
                flushMicros = number(value);
            } else if (argument.startsWith("--distance=")) {
                distanceMicros = number(value);
            } else if (!argument.equals("--quick") && !argument.equals("--ring")) {
                throw new IllegalArgumentException("Unknown option '" + argument + "'. " + USAGE);
            }
        }
        return new Options(quick, scenarios, sizes, selection, ring, flushMicros, distanceMicros);
    }

    private static List<String> words(String list) {
        return Arrays.stream(list.split(","))
                .map(word -> word.strip().toLowerCase(Locale.ROOT))
                .toList();
    }

    private static SortedSet<Integer> numbers(String list) {
        SortedSet<Integer> numbers =
                Arrays.stream(list.split(",")).map(Options::number).collect(Collectors.toCollection(TreeSet::new));
        if (!Benchmarks.SCENARIOS.keySet().containsAll(numbers)) {
            throw new IllegalArgumentException(
                    "There are the scenarios %s, not %s".formatted(Benchmarks.SCENARIOS.keySet(), numbers));
        }
        return numbers;
    }

    private static int number(String text) {
        try {
            int number = Integer.parseInt(text.strip());
            if (number > 0) {
                return number;
            }
        } catch (NumberFormatException ex) {
            // Reported below, for both reasons.
        }
        throw new IllegalArgumentException("'" + text + "' is not a positive number. " + USAGE);
    }

    /** Whether a slower disk or network is simulated. */
    boolean isSlowedDown() {
        return this.flushMicros > 0 || this.distanceMicros > 0;
    }

    @Override
    public String toString() {
        return (this.quick ? "quick, " : "") + (this.ring ? "ring, " : "")
                + (this.flushMicros > 0 ? "flush " + this.flushMicros + " µs, " : "")
                + (this.distanceMicros > 0 ? "distance " + this.distanceMicros + " µs, " : "") + "scenarios "
                + this.scenarios
                + (this.selection.words().isEmpty() ? "" : ", only " + this.selection.words());
    }
}
