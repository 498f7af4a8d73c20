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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
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

/** What README and docs say and can be held against the code. */
class DocumentationTests {

    private static final Map<String, Integer> LIMITS =
            Map.of("README.md", 9_000, "CONTRIBUTING.md", 6_000, "docs/strategies.md", 3_000);
    private static final int LONGEST_CELL = 25;

    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern MESSAGE_LINK = Pattern.compile("([a-z-]+\\.md#[a-z-]+)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\"></a>");
    private static final Pattern JAVA = Pattern.compile("(?s)```java\\n(.*?)```");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (dev\\.idempotency\\.[\\w.]+);$");
    private static final Pattern ELSEWHERE = Pattern.compile("@(EmbeddedKafka|ServiceConnection|Import\\(Servers)");
    private static final Pattern YAML = Pattern.compile("(?s)```yaml\\n(.*?)```");
    private static final Pattern MESSAGE = Pattern.compile("(?m)^\\| `([^`]+)`");
    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");
    private static final Pattern TYPE = Pattern.compile("`([A-Z][A-Za-z]+)`");
    private static final Pattern PROPERTY_ROW =
            Pattern.compile("(?m)^\\| `((?:idempotency|management)\\.[^`]+)` \\| (?:`([^`]*)`)? ?\\|");

    @Test
    void everyLinkLeadsSomewhere() {
        List<String> broken = new ArrayList<>();
        for (Path page : Documentation.pages()) {
            String text = CODE.matcher(Documentation.read(page)).replaceAll("");
            LINK.matcher(text).results().map(match -> match.group(1)).forEach(link -> {
                if (!link.contains("://") && !leadsSomewhere(page, link)) {
                    broken.add(Documentation.nameOf(page) + ": " + link);
                }
            });
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void everyLinkInAMessageLeadsSomewhere() {
        Path docs = Path.of("../docs/README.md").toAbsolutePath().normalize();
        List<String> links = Documentation.sources()
                .flatMap(DocumentationTests::javaFiles)
                .flatMap(file -> MESSAGE_LINK.matcher(Documentation.read(file)).results())
                .map(match -> match.group(1))
                .toList();
        assertThat(links).hasSizeGreaterThan(1).allMatch(link -> leadsSomewhere(docs, link));
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
        assertThat(LINK.matcher(howTo).results().map(match -> "docs/" + match.group(1)))
                .hasSizeGreaterThan(10)
                .allSatisfy(page -> assertThat(Documentation.read(page)).containsPattern("```(java|yaml|shell|sql)"));
    }

    @Test
    void noTableCellIsAParagraph() {
        assertThat(Documentation.pages().stream().flatMap(page -> CODE.matcher(Documentation.read(page))
                        .replaceAll("")
                        .lines()
                        .filter(line -> line.startsWith("|"))
                        .flatMap(line -> Stream.of(line.split("(?<!\\\\)\\|")))
                        .map(cell -> LINK.matcher(ANCHOR.matcher(cell).replaceAll(""))
                                .replaceAll("]")
                                .strip())
                        .filter(cell -> cell.split("\\s+").length > LONGEST_CELL)
                        .map(cell -> Documentation.nameOf(page) + ": " + cell)))
                .isEmpty();
    }

    @Test
    void everyPropertyIsDocumentedWithItsDefaultAndNoOther() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        PROPERTY_ROW
                .matcher(Documentation.read("docs/properties.md"))
                .results()
                .forEach(row -> documented.put(row.group(1), (row.group(2) != null) ? row.group(2) : ""));
        assertThat(documented).isEqualTo(properties());
    }

    @Test
    void everyCheckHasAnAnchorOfItsOwnInItsPageAndNoOtherHas() {
        Set<String> anchors = ANCHOR.matcher(Documentation.read("docs/checks.md"))
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(anchors)
                .isEqualTo(Arrays.stream(StartupCheck.values())
                        .map(StartupCheck::toString)
                        .collect(Collectors.toCollection(TreeSet::new)));
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

    /** Up to the symptoms: all before them are messages, of which one is Flyway's. */
    @Test
    void messagesWithARemedyAreThoseOfTheCode() {
        String page = Documentation.read("docs/troubleshooting.md");
        List<String> parts = MESSAGE.matcher(page.substring(0, page.indexOf("## A message was applied twice")))
                .results()
                .map(match -> match.group(1))
                .filter(message -> !message.startsWith("Found non-empty schema"))
                .flatMap(message -> Stream.of(message.split("…")))
                .map(String::strip)
                .toList();
        String literals = Documentation.sources()
                .flatMap(DocumentationTests::javaFiles)
                .map(file -> Documentation.read(file).replaceAll("\"\\s*\\+\\s*\"", ""))
                .collect(Collectors.joining());
        assertThat(parts).hasSizeGreaterThan(20);
        assertThat(literals).contains(parts);
    }

    @Test
    void everyAlertHasARemedy() {
        List<String> alerts = ALERT.matcher(Documentation.read("observability/prometheus/idempotency-alerts.yml"))
                .results()
                .map(match -> "| `" + match.group(1) + "` |")
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
        List<String> named = TYPE.matcher(map)
                .results()
                .map(match -> match.group(1))
                .distinct()
                .toList();
        assertThat(named).hasSizeGreaterThan(20);
        assertThat(sourceFiles()).containsAll(named);
    }

    /**
     * Word for word, but for comments, line breaks and bodies that are left out. What needs Testcontainers or spring-kafka-test
     * is not looked at; and of Spring AMQP, which is not here, the annotation is left out.
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
        List<String> examples = Documentation.pages().stream()
                .flatMap(page -> JAVA.matcher(Documentation.read(page)).results())
                .filter(match -> !ELSEWHERE.matcher(match.group(1)).find())
                .map(match -> words(match.group(1).replaceFirst("@RabbitListener.*", "")))
                .toList();
        assertThat(examples).hasSizeGreaterThan(20).allSatisfy(example -> assertThat(sources.contains(example))
                .as(example)
                .isTrue());
    }

    @Test
    void everyImportOfAnExampleExists() {
        List<String> imports = Documentation.pages().stream()
                .flatMap(page -> IMPORT.matcher(Documentation.read(page)).results())
                .map(match -> match.group(1).replace('.', '/') + ".java")
                .distinct()
                .toList();
        assertThat(imports).hasSizeGreaterThan(10).allSatisfy(file -> assertThat(Stream.concat(
                                Documentation.sources(),
                                Stream.of(Path.of("../idempotency-spring-boot-test/src/main/java")))
                        .map(folder -> folder.resolve(file)))
                .anyMatch(Files::exists));
    }

    @Test
    void everyPropertyInAYamlExampleExists() throws IOException {
        Set<String> known = properties().keySet();
        List<String> named = Documentation.pages().stream()
                .flatMap(page -> YAML.matcher(Documentation.read(page)).results())
                .flatMap(match -> propertiesIn(match.group(1)).stringPropertyNames().stream())
                .filter(name -> name.startsWith("idempotency.") || name.startsWith("management.endpoint.idempotency"))
                .toList();
        assertThat(named).isNotEmpty().allSatisfy(name -> assertThat(known).contains(name));
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

    /** Code without imports, comments at the end of lines and white space, which the formatter puts where it likes. */
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

    /** The names and defaults of the generated metadata, as people write them. */
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
        String text = CODE.matcher(Documentation.read(page)).replaceAll("");
        Map<String, Integer> seen = new LinkedHashMap<>();
        Set<String> anchors = ANCHOR.matcher(text)
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        HEADING.matcher(text).results().map(MatchResult::group).forEach(heading -> {
            String slug = slug(heading);
            int times = seen.merge(slug, 1, Integer::sum);
            anchors.add((times == 1) ? slug : slug + "-" + (times - 1));
        });
        return anchors;
    }

    /** The anchor that GitHub gives to a heading. */
    private static String slug(String heading) {
        return heading.replaceFirst("^#+ ", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .trim()
                .replace(' ', '-');
    }
}
