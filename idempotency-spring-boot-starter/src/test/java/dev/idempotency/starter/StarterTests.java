package dev.idempotency.starter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StarterTests {

    @Test
    void theStarterHasNoSourcesOfItsOwn() {
        assertThat(Path.of("src/test")).as("the directory the test runs in").isDirectory();
        assertThat(Path.of("src/main")).doesNotExist();
    }

    @Test
    void theStarterHasNoClassesOfItsOwn() throws IOException {
        assertThat(classesBelow(Path.of("target/classes"))).isEmpty();
        assertThat(classesBelow(Path.of("build/classes/java/main"))).isEmpty();
    }

    private static List<Path> classesBelow(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".class")).toList();
        }
    }
}
