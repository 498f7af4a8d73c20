package dev.idempotency.starter;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class StarterTests {

    @Test
    void theStarterHasNoSourcesOfItsOwn() {
        assertThat(Path.of("src/test")).as("the directory the test runs in").isDirectory();
        assertThat(Path.of("src/main")).doesNotExist();
    }
}
