package dev.idempotency.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks every interleaving of the ring's protocol with Spin, and that Spin finds the bugs of broken variants. */
class RingModelIT {

    private static final Path MODEL = Path.of("src/main/promela/ring.pml").toAbsolutePath();

    @TempDir
    private Path folder;

    @Test
    void noInterleavingAppliesAnIdTwice() throws Exception {
        assertThat(check()).contains("errors: 0").doesNotContain("search depth too small");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NO_RECHECK", "ONE_STEP", "NO_GUARD"})
    void withoutOneOfItsGuardsAnIdIsAppliedTwice(String without) throws Exception {
        assertThat(check("-D" + without)).contains("assertion violated (applied<=1)", "errors: 1");
    }

    private String check(String... definitions) throws Exception {
        Assumptions.assumeTrue(
                Stream.of("spin", "gcc").allMatch(RingModelIT::isInstalled),
                "spin or gcc is not installed: the model of the ring is not checked (apt-get install spin gcc)");
        run(Stream.of(Stream.of("spin", "-a"), Arrays.stream(definitions), Stream.of(MODEL.toString()))
                .flatMap(each -> each)
                .toArray(String[]::new));
        run("gcc", "-O2", "-w", "-DSAFETY", "-DMEMLIM=1500", "-o", "pan", "pan.c");
        return run("./pan", "-m20000");
    }

    private String run(String... command) throws IOException, InterruptedException {
        Path output = this.folder.resolve("output");
        Process process = new ProcessBuilder(command)
                .directory(this.folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor()).as(() -> read(output)).isZero();
        return read(output);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            return ex.toString();
        }
    }

    private static boolean isInstalled(String program) {
        return Stream.of(String.valueOf(System.getenv("PATH")).split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
