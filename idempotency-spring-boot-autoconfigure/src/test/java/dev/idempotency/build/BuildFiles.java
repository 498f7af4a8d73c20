package dev.idempotency.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The texts of the build scripts, by their path from the root; some may be replaced, to see what that changes. */
final class BuildFiles {

    private final Path root;
    private final Map<String, String> replaced;

    private BuildFiles(Path root, Map<String, String> replaced) {
        this.root = root;
        this.replaced = replaced;
    }

    /** The files of the project whose tests are running, from whichever of its directories they run. */
    static BuildFiles ofThisProject() {
        Path start = Path.of("").toAbsolutePath();
        for (Path directory = start; directory != null; directory = directory.getParent()) {
            if (Files.exists(directory.resolve("settings.gradle.kts"))) {
                return new BuildFiles(directory, Map.of());
            }
        }
        throw new IllegalStateException("No settings.gradle.kts in " + start + " or above it");
    }

    String text(String path) {
        String text = this.replaced.get(path);
        if (text != null) {
            return text;
        }
        try {
            return Files.readString(this.root.resolve(path));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** These files with the first occurrence of {@code old} in one of them replaced. */
    BuildFiles replacing(String path, String old, String replacement) {
        String text = text(path);
        int start = text.indexOf(old);
        if (start < 0) {
            throw new IllegalArgumentException(path + " does not contain \"" + old + "\"");
        }
        Map<String, String> files = new HashMap<>(this.replaced);
        files.put(path, text.substring(0, start) + replacement + text.substring(start + old.length()));
        return new BuildFiles(this.root, files);
    }
}
