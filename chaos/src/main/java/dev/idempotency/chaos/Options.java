package dev.idempotency.chaos;

import dev.idempotency.chaos.consumer.Sabotage;
import dev.idempotency.chaos.fault.Fault;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Options of a run.
 *
 * @param seed determines messages and faults: the same seed results in the same ones, though not at the same time
 * @param messages the number of different messages, without duplicates
 * @param faults the number of faults
 * @param rate the number of messages sent per second
 * @param processes the number of consuming JVMs
 * @param only the kinds of faults; by default all
 * @param listeners the profiles of the listeners; by default all that work with the sabotage
 * @param ring whether claims are in a ring of tables, whose slots are emptied continuously
 * @param sabotage a fault in the consumers that the checker must find
 * @param results the directory for reports and for the logs of failed runs
 */
public record Options(
        long seed,
        int messages,
        int faults,
        int rate,
        int processes,
        Set<Fault> only,
        List<String> listeners,
        boolean ring,
        Sabotage sabotage,
        Path results) {

    private static final Set<String> KNOWN = Set.of(
            "seed", "messages", "faults", "rate", "processes", "only", "listeners", "ring", "sabotage", "results");

    public Options {
        requirePositive("messages", messages);
        requirePositive("rate", rate);
        requirePositive("processes", processes);
        if (faults < 0) {
            throw new IllegalArgumentException("--faults must not be negative, but is " + faults);
        }
        if (listeners.isEmpty() || !sabotage.listeners().containsAll(listeners)) {
            throw new IllegalArgumentException("--listeners must be some of %s, but is %s"
                    .formatted(String.join(",", sabotage.listeners()), String.join(",", listeners)));
        }
    }

    /** Reads {@code --name=value} arguments. */
    public static Options parse(String... arguments) {
        Map<String, String> given = Arrays.stream(arguments)
                .filter(argument -> !argument.isBlank())
                .map(Options::split)
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
        Sabotage sabotage = Sabotage.valueOf(constant(given.getOrDefault("sabotage", "none")));
        return new Options(
                Long.parseLong(given.getOrDefault("seed", "1")),
                Integer.parseInt(given.getOrDefault("messages", "20000")),
                Integer.parseInt(given.getOrDefault("faults", "60")),
                Integer.parseInt(given.getOrDefault("rate", "300")),
                Integer.parseInt(given.getOrDefault("processes", "3")),
                only(given.getOrDefault("only", "")),
                given.containsKey("listeners") ? List.of(given.get("listeners").split(",")) : sabotage.listeners(),
                Boolean.parseBoolean(given.getOrDefault("ring", "false")),
                sabotage,
                Path.of(given.getOrDefault("results", "results")));
    }

    /** The profiles of the consumers. */
    List<String> profiles() {
        return this.ring
                ? Stream.concat(this.listeners.stream(), Stream.of("ring")).toList()
                : this.listeners;
    }

    private static Set<Fault> only(String names) {
        return names.isBlank()
                ? EnumSet.allOf(Fault.class)
                : Arrays.stream(names.split(","))
                        .map(name -> Fault.valueOf(constant(name)))
                        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Fault.class)));
    }

    private static String constant(String name) {
        return name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static String[] split(String argument) {
        String[] pair = argument.split("=", 2);
        if (pair.length != 2 || !pair[0].startsWith("--") || !KNOWN.contains(pair[0].substring(2))) {
            throw new IllegalArgumentException("Unknown option '%s'. There are --%s=…"
                    .formatted(
                            argument,
                            String.join("=…, --", KNOWN.stream().sorted().toList())));
        }
        return new String[] {pair[0].substring(2), pair[1]};
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("--%s must be positive, but is %d".formatted(name, value));
        }
    }
}
