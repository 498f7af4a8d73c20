package dev.idempotency.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.chaos.check.Verdict;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Short runs with all faults, and runs with sabotage that the checker must find. */
class ChaosIT {

    @Test
    void nothingIsLostAndNothingAppliedTwice() throws Exception {
        assertClean(600, "--faults=4", "--rate=60", "--processes=2", "--seed=32");
    }

    @Test
    @Tag("slow")
    void nothingIsLostAndNothingAppliedTwiceInALongerRun() throws Exception {
        assertClean(3_000, "--faults=20", "--rate=100", "--processes=3", "--seed=2026");
    }

    /** Slots are two seconds wide and are emptied while messages are claimed in them. */
    @Test
    void nothingIsLostOrAppliedTwiceInARingWhoseSlotsAreEmptied() throws Exception {
        Report report = run(
                "--messages=500",
                "--faults=4",
                "--rate=60",
                "--processes=2",
                "--seed=37",
                "--ring=true",
                "--listeners=record,batch,poll,at-commit",
                "--results=target/chaos");

        assertThat(report.isClean()).as(report.markdown()).isTrue();
        assertThat(report.verdicts()).hasSize(4);
    }

    private static void assertClean(int messages, String faults, String rate, String processes, String seed)
            throws Exception {
        Report report = run("--messages=" + messages, faults, rate, processes, seed, "--results=target/chaos");

        assertThat(report.isClean()).as(report.markdown()).isTrue();
        assertThat(report.verdicts()).hasSize(13).allSatisfy(verdict -> {
            int ended = verdict.applied() + verdict.deadLettered();
            if (verdict.consumer().startsWith("offset")) {
                assertThat(ended).isGreaterThanOrEqualTo(messages + report.duplicates());
            } else if (verdict.consumer().startsWith("version")) {
                assertThat(ended).isBetween(messages / 6, messages);
            } else if (verdict.consumer().equals("steps")) {
                assertThat(ended).isGreaterThanOrEqualTo(messages);
            } else {
                assertThat(ended).isEqualTo(messages);
            }
        });
    }

    @Test
    @Tag("slow")
    void aClaimThatIsCommittedByItselfIsFound(@TempDir Path results) throws Exception {
        Report report = run(
                "--messages=600", "--faults=0", "--processes=1", "--sabotage=separate-claim", "--results=" + results);

        assertThat(all(report, Verdict::lost)).isNotEmpty();
    }

    @Test
    @Tag("slow")
    void noClaimAtAllIsFound(@TempDir Path results) throws Exception {
        Report report = run(
                "--messages=1500",
                "--rate=150",
                "--faults=3",
                "--only=kill",
                "--processes=1",
                "--sabotage=no-claim",
                "--results=" + results);

        assertThat(report.verdicts())
                .allSatisfy(verdict ->
                        assertThat(verdict.doubled()).as(verdict.consumer()).isNotEmpty());
    }

    @Test
    @Tag("slow")
    void offsetsThatAreCommittedBeforeTheWorkAreFound(@TempDir Path results) throws Exception {
        Report report = run(
                "--messages=450",
                "--rate=150",
                "--faults=3",
                "--only=kill",
                "--processes=1",
                "--sabotage=offset-first",
                "--results=" + results);

        assertThat(report.verdicts())
                .allSatisfy(verdict ->
                        assertThat(verdict.lost()).as(verdict.consumer()).isNotEmpty());
    }

    private static List<String> all(Report report, Function<Verdict, List<String>> what) {
        return report.verdicts().stream()
                .flatMap(verdict -> what.apply(verdict).stream())
                .toList();
    }

    private static Report run(String... options) throws Exception {
        return new ChaosRun(Options.parse(options), line -> {}).run();
    }
}
