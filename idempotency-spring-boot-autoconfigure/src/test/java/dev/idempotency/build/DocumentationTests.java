package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.StartupCheck;
import dev.idempotency.actuate.IdempotencyDeadLettersEndpoint;
import dev.idempotency.actuate.IdempotencyEndpoint;
import dev.idempotency.actuate.IdempotencyInboxEndpoint;
import dev.idempotency.actuate.IdempotencyReconciliationEndpoint;
import dev.idempotency.metrics.IdempotencyMeters;
import dev.idempotency.recipes.DocumentedExamples;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.ReflectionUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Statements of README and docs that can be verified against the code. */
class DocumentationTests {

    private static final Map<String, Integer> LIMITS =
            Map.of("README.md", 9_000, "CONTRIBUTING.md", 6_000, "docs/strategies.md", 3_000);
    private static final int LONGEST_CELL = 25;

    private static final String LINK = "]\\(([^)\\s]+)\\)";
    private static final String ANCHOR = "<a id=\"([^\"]+)\"></a>";

    @Test
    void everyLinkLeadsSomewhere() {
        assertThat(Documentation.pages()).allSatisfy(page -> assertThat(find(LINK, prose(page)))
                .filteredOn(link -> !link.contains("://"))
                .as(Documentation.nameOf(page))
                .allMatch(link -> leadsSomewhere(page, link)));
    }

    @Test
    void everyLinkInAMessageLeadsSomewhere() {
        Path docs = Path.of("../docs/README.md").toAbsolutePath().normalize();
        assertThat(sources().flatMap(source -> find("([a-z-]+\\.md#[a-z-]+)", source)))
                .hasSizeGreaterThan(1)
                .allMatch(link -> leadsSomewhere(docs, link));
    }

    @Test
    void pagesThatLeadToOthersAreShortEnoughToBeReadToTheirEnd() {
        assertThat(LIMITS).allSatisfy((page, limit) -> assertThat(
                        Documentation.read(page).getBytes(StandardCharsets.UTF_8).length)
                .as(page)
                .isLessThanOrEqualTo(limit));
    }

    @Test
    void everyPageIsInTheOverview() {
        assertThat(Documentation.pages().stream()
                        .map(Documentation::nameOf)
                        .filter(name -> name.startsWith("docs/") && !name.equals("docs/README.md"))
                        .map(name -> "(" + name.substring("docs/".length()) + ")"))
                .allSatisfy(
                        link -> assertThat(Documentation.read("docs/README.md")).contains(link));
    }

    @Test
    void everyPageThatSaysHowToDoSomethingHasCode() {
        String overview = Documentation.read("docs/README.md");
        String howTo = overview.substring(overview.indexOf("## How to"), overview.indexOf("## Reference"));
        assertThat(find(LINK, howTo)).hasSizeGreaterThan(10).allSatisfy(page -> assertThat(
                        Documentation.read("docs/" + page))
                .containsPattern("```(java|yaml|shell|sql)"));
    }

    @Test
    void noTableCellIsAParagraph() {
        assertThat(Documentation.pages())
                .allSatisfy(page -> assertThat(prose(page).lines())
                        .filteredOn(line -> line.startsWith("|"))
                        .flatMap(line -> List.of(line.split("(?<!\\\\)\\|")))
                        .as(Documentation.nameOf(page))
                        .noneMatch(cell -> cell.replaceAll(ANCHOR, "")
                                        .replaceAll(LINK, "]")
                                        .strip()
                                        .split("\\s+")
                                        .length
                                > LONGEST_CELL));
    }

    @Test
    void everyPropertyIsDocumentedWithItsDefaultAndNoOther() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        Pattern.compile("(?m)^\\| `((?:idempotency|management)\\.[^`]+)` \\| (?:`([^`]*)`)? ?\\|")
                .matcher(Documentation.read("docs/properties.md"))
                .results()
                .forEach(row -> documented.put(row.group(1), (row.group(2) != null) ? row.group(2) : ""));
        assertThat(documented).isEqualTo(properties());
    }

    @Test
    void everyCheckHasAnAnchorOfItsOwnInItsPageAndNoOtherHas() {
        assertThat(find(ANCHOR, Documentation.read("docs/checks.md")))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(StartupCheck.values())
                        .map(StartupCheck::toString)
                        .toList());
    }

    @Test
    void everyMeterIsInItsPage() {
        assertThat(Documentation.read("docs/observability.md"))
                .contains(meterNames().map(name -> "| `" + name + "` |").toList());
    }

    @Test
    void everyEndpointOperationIsInItsPage() {
        String page = Documentation.read("docs/endpoints.md");
        for (Class<?> endpoint : List.of(
                IdempotencyEndpoint.class,
                IdempotencyInboxEndpoint.class,
                IdempotencyDeadLettersEndpoint.class,
                IdempotencyReconciliationEndpoint.class)) {
            String path = " /actuator/" + endpoint.getAnnotation(Endpoint.class).id();
            assertThat(page)
                    .contains(requestsOf(endpoint)
                            .map(verb -> "| `" + verb + path)
                            .toList());
        }
    }

    /** Checks the part before the symptoms, which lists messages; one of them is Flyway's. */
    @Test
    void messagesWithARemedyAreThoseOfTheCode() {
        String page = Documentation.read("docs/troubleshooting.md");
        List<String> parts = find(
                        "(?m)^\\| `([^`]+)`", page.substring(0, page.indexOf("## A message was applied twice")))
                .filter(message -> !message.startsWith("Found non-empty schema"))
                .flatMap(message -> Stream.of(message.split("…")))
                .map(String::strip)
                .toList();
        assertThat(parts).hasSizeGreaterThan(20);
        assertThat(sources()
                        .map(source -> source.replaceAll("\"\\s*\\+\\s*\"", ""))
                        .collect(Collectors.joining()))
                .contains(parts);
    }

    @Test
    void everyAlertHasARemedy() {
        List<String> alerts = find(
                        "- alert: (\\w+)", Documentation.read("observability/prometheus/idempotency-alerts.yml"))
                .map("| `%s` |"::formatted)
                .toList();
        assertThat(alerts).isNotEmpty();
        assertThat(Documentation.read("docs/troubleshooting.md")).contains(alerts);
    }

    @Test
    void everyExceptionHasARemedy() {
        Path users = Path.of("../idempotency-core/src/main/java/dev/idempotency");
        List<String> exceptions = javaFiles(users)
                .filter(file -> users.equals(file.getParent()))
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith("Exception.java"))
                .map(name -> "`" + name.replace(".java", "") + "`")
                .toList();
        assertThat(exceptions).hasSizeGreaterThan(12);
        assertThat(Documentation.read("docs/exceptions.md")).contains(exceptions);
    }

    @Test
    void theMapForNewcomersNamesTypesThatThereAre() {
        String map = Documentation.read("docs/internals.md");
        map = map.substring(0, map.indexOf("## Easy to get wrong"));
        assertThat(find("`([A-Z][A-Za-z]+)`", map)).hasSizeGreaterThan(20).isSubsetOf(sourceFiles());
    }

    /**
     * Compares examples literally, except for comments, line breaks and omitted bodies. Examples that need Testcontainers or
     * spring-kafka-test are not compared; the annotation of Spring AMQP, which is not on the class path, is omitted.
     */
    @Test
    void everyJavaExampleIsPartOfSomethingThatIsCompiled() {
        Stream<Path> others = Stream.of(
                DocumentedExamples.compile(),
                Path.of("src/test/java"),
                Path.of("../sample-app/src/main/java"),
                Path.of("../idempotency-spring-boot-test/src/test/java"));
        String sources = Stream.concat(Documentation.sources(), others)
                .flatMap(DocumentationTests::javaFiles)
                .map(file -> words(Documentation.read(file)))
                .collect(Collectors.joining("\n"));
        assertThat(findInPages("(?s)```java\\n(.*?)```"))
                .filteredOn(example -> !example.matches("(?s).*@(EmbeddedKafka|ServiceConnection|Import\\(Servers).*"))
                .hasSizeGreaterThan(20)
                .extracting(example -> words(example.replaceFirst("@RabbitListener.*", "")))
                .allSatisfy(example ->
                        assertThat(sources.contains(example)).as(example).isTrue());
    }

    @Test
    void everyImportOfAnExampleExists() {
        assertThat(findInPages("(?m)^import (dev\\.idempotency\\.[\\w.]+);$"))
                .hasSizeGreaterThan(10)
                .allSatisfy(type -> assertThat(Stream.concat(
                                        Documentation.sources(),
                                        Stream.of(Path.of("../idempotency-spring-boot-test/src/main/java")))
                                .map(folder -> folder.resolve(type.replace('.', '/') + ".java")))
                        .anyMatch(Files::exists));
    }

    @Test
    void everyPropertyInAYamlExampleExists() throws IOException {
        assertThat(findInPages("(?s)```yaml\\n(.*?)```")
                        .flatMap(yaml -> propertiesIn(yaml).stringPropertyNames().stream()))
                .filteredOn(
                        name -> name.startsWith("idempotency.") || name.startsWith("management.endpoint.idempotency"))
                .isNotEmpty()
                .isSubsetOf(properties().keySet());
    }

    private static Stream<String> find(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().map(match -> match.group(1));
    }

    private static Stream<String> findInPages(String regex) {
        return Documentation.pages().stream().flatMap(page -> find(regex, Documentation.read(page)));
    }

    /** Returns a page without its examples. */
    private static String prose(Path page) {
        return Documentation.read(page).replaceAll("(?ms)^```.*?^```", "");
    }

    /** Returns the text of each source file of the library. */
    private static Stream<String> sources() {
        return Documentation.sources().flatMap(DocumentationTests::javaFiles).map(Documentation::read);
    }

    private static Properties propertiesIn(String yaml) {
        YamlPropertiesFactoryBean properties = new YamlPropertiesFactoryBean();
        properties.setResources(new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        return properties.getObject();
    }

    private static Stream<Path> javaFiles(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns code without imports, line comments and white space, which depends on the formatter. */
    private static String words(String code) {
        return code.replaceAll("(?m)^import .*;$", "")
                .replaceAll("(?m)(^|\\s)// .*$", "")
                .replace("…", "")
                .replaceAll("\\s+", "");
    }

    private static Stream<String> requestsOf(Class<?> endpoint) {
        return Arrays.stream(endpoint.getDeclaredMethods()).flatMap(method -> Stream.of(
                        method.isAnnotationPresent(ReadOperation.class) ? "GET" : null,
                        method.isAnnotationPresent(WriteOperation.class) ? "POST" : null,
                        method.isAnnotationPresent(DeleteOperation.class) ? "DELETE" : null)
                .filter(Objects::nonNull));
    }

    private static List<String> sourceFiles() {
        return Stream.concat(Documentation.sources(), Stream.of(Path.of("src")))
                .flatMap(DocumentationTests::javaFiles)
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .toList();
    }

    private static Stream<String> meterNames() {
        return Arrays.stream(IdempotencyMeters.class.getFields())
                .map(field -> (String) ReflectionUtils.getField(field, null))
                .filter(name -> name.startsWith("idempotency."));
    }

    /** Returns the names and defaults of the generated metadata, in the notation of the docs. */
    private static Map<String, String> properties() throws IOException {
        Map<String, String> properties = new TreeMap<>();
        try (InputStream metadata =
                DocumentationTests.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            for (JsonNode property : new JsonMapper().readTree(metadata).get("properties")) {
                properties.put(property.get("name").asString(), text(property.get("defaultValue")));
            }
        }
        return properties;
    }

    private static String text(JsonNode value) {
        String text = (value != null) ? value.asString() : "";
        return text.startsWith("[") ? text.substring(1, text.length() - 1) : text;
    }

    private static boolean leadsSomewhere(Path page, String link) {
        int hash = link.indexOf('#');
        String file = (hash < 0) ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        return Files.exists(target) && (hash < 0 || anchorsOf(target).contains(link.substring(hash + 1)));
    }

    private static Set<String> anchorsOf(Path page) {
        String text = prose(page);
        Map<String, Integer> seen = new HashMap<>();
        Set<String> anchors = find(ANCHOR, text).collect(Collectors.toSet());
        find("(?m)^#+ (.*)$", text).map(DocumentationTests::slug).forEach(slug -> {
            int times = seen.merge(slug, 1, Integer::sum);
            anchors.add((times == 1) ? slug : slug + "-" + (times - 1));
        });
        return anchors;
    }

    /** Returns GitHub's anchor for a heading. */
    private static String slug(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .trim()
                .replace(' ', '-');
    }
}
