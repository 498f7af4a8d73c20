package dev.idempotency.chaos;

import dev.idempotency.chaos.check.Verdict;
import dev.idempotency.chaos.fault.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * The result of a run.
 *
 * @param options the options of the run
 * @param faults the number of faults by kind
 * @param messages the number of different messages
 * @param duplicates the number of additional copies
 * @param took the time from the start to the last consumed message
 * @param longestRecovery the longest time without a new effect
 * @param verdicts the outcomes of messages by consumer
 * @param steps how often steps were called; {@code null} if there were none
 */
record Report(
        Options options,
        Map<Fault, Integer> faults,
        int messages,
        int duplicates,
        Duration took,
        Duration longestRecovery,
        List<Verdict> verdicts,
        @Nullable String steps) {

    boolean isClean() {
        return this.verdicts.stream().allMatch(Verdict::isClean);
    }

    int faultCount() {
        return this.faults.values().stream().mapToInt(Integer::intValue).sum();
    }

    String markdown() {
        StringBuilder text = new StringBuilder();
        text.append("# Chaos, seed %d: %s%n%n"
                .formatted(this.options.seed(), isClean() ? "nothing lost, nothing applied twice" : "**failed**"));
        text.append(
                "%,d messages and %,d duplicates of them for each of %d consumers, %d processes, %d faults, %d min; longest time without any effect %.1f s.%n%n"
                        .formatted(
                                this.messages,
                                this.duplicates,
                                this.verdicts.size(),
                                this.options.processes(),
                                faultCount(),
                                this.took.toMinutes(),
                                this.longestRecovery.toMillis() / 1000.0));
        text.append("| fault | times |%n| --- | ---: |%n".formatted());
        this.faults.forEach((fault, times) -> text.append("| %s | %d |%n".formatted(fault.description(), times)));
        text.append(
                "%n| consumer | applied | dead-lettered | lost | applied twice | out of order | wrongly dead-lettered | dead-lettered and applied |%n"
                        .formatted());
        text.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |%n".formatted());
        for (Verdict verdict : this.verdicts) {
            text.append("| `%s` | %,d | %,d | %d | %d | %d | %d | %d |%n"
                    .formatted(
                            verdict.consumer(),
                            verdict.applied(),
                            verdict.deadLettered(),
                            verdict.lost().size(),
                            verdict.doubled().size(),
                            verdict.outOfOrder().size(),
                            verdict.wronglyDeadLettered().size(),
                            verdict.deadLetteredAndApplied().size()));
        }
        if (this.steps != null) {
            text.append("%n%s%n".formatted(this.steps));
        }
        return text.toString();
    }

    void write(Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("report.md"), markdown());
        Files.writeString(
                directory.resolve("report.json"),
                JsonMapper.builder().build().writerWithDefaultPrettyPrinter().writeValueAsString(this));
    }
}
