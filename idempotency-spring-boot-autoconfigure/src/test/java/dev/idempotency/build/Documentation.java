package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The README, the READMEs of modules, and the pages in {@code docs}, whose examples are run. */
public final class Documentation {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern SQL = Pattern.compile("(?s)```sql\\n(.*?)```");

    private Documentation() {}

    /** The folders of the library's main code. */
    public static Stream<Path> sources() {
        return Stream.of("core", "kafka", "operators", "spring-boot-autoconfigure")
                .map(module -> ROOT.resolve("idempotency-" + module + "/src/main/java"));
    }

    /** Returns all pages. */
    public static List<Path> pages() {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            Stream<Path> modules =
                    Stream.of("benchmarks/README.md", "chaos/README.md").map(ROOT::resolve);
            return Stream.of(root, docs, modules)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns the text of a page by its path from the project's root. */
    public static String read(String page) {
        return read(ROOT.resolve(page));
    }

    /** Returns the text of a page. */
    public static String read(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns the only SQL example that contains a text. */
    public static String sqlWith(String text) {
        List<String> found = pages().stream()
                .flatMap(page -> SQL.matcher(read(page)).results().map(match -> match.group(1)))
                .filter(sql -> sql.contains(text))
                .toList();
        assertThat(found).as("SQL examples with " + text).hasSize(1);
        return found.get(0);
    }

    /** Returns the path of a page from the project's root. */
    static String nameOf(Path page) {
        return ROOT.relativize(page).toString();
    }
}
