package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import javax.xml.xpath.XPathNodes;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;

/** The Maven and the Gradle build must agree: a change of one requires the same change of the other. */
class BuildsAgreeTests {

    private static final XPath XPATH = XPathFactory.newInstance().newXPath();
    private static final String CATALOG = Documentation.read("gradle/libs.versions.toml");
    private static final String GRADLE = Documentation.read("build.gradle.kts");
    private static final String GROUP = "dev.idempotency:";

    @Test
    void bothBuildsHaveTheSameModulesAndDependenciesInTheSameScopes() {
        assertThat(gradleDependencies())
                .as("what Gradle says, compared with what Maven says")
                .containsExactlyInAnyOrderElementsOf(mavenDependencies());
    }

    @Test
    void bothBuildsHaveTheSameVersions() {
        Map<String, String> maven = new TreeMap<>();
        nodes("pom.xml", "/project/properties/*[contains(name(), '.version')]")
                .forEach(property -> maven.put(property.getNodeName().replace(".version", ""), text(property)));
        Map<String, String> gradle = new TreeMap<>();
        find("(?m)^([\\w-]+) = (?:\\{ strictly = )?\"([^\"]+)\"", CATALOG)
                .forEach(version -> gradle.put(version.group(1), version.group(2)));
        // Their Maven and Gradle plugins have separate versions.
        Stream.of("spotless", "cyclonedx", "java").forEach(plugin -> {
            maven.remove(plugin);
            gradle.remove(plugin);
        });
        assertThat(gradle).containsAllEntriesOf(maven);
        assertThat(find("release\\.set\\((\\d+)\\)", GRADLE))
                .extracting(release -> release.group(1))
                .containsOnly(text(nodes("pom.xml", "/project/properties/*[name()='java.version']")
                        .get(0)));
        assertThat(GRADLE)
                .contains("version = \""
                        + text(nodes("pom.xml", "/project/version").get(0)) + "\"");
    }

    @Test
    void bothBuildsPublishTheSameModulesWhichTheBomManages() {
        List<String> published = modules().stream()
                .filter(module -> nodes(
                                module + "/pom.xml", "//plugin[artifactId='maven-deploy-plugin']//skip[.='true']")
                        .isEmpty())
                .toList();
        assertThat(find("listOf\\((project.*)\\)\\) \\{\\s+apply\\(plugin = \"maven-publish\"\\)", GRADLE))
                .flatExtracting(projects -> find("\":([\\w-]+)\"", projects.group(1)))
                .extracting(project -> project.group(1))
                .containsExactlyInAnyOrderElementsOf(published);
        List<String> libraries = published.stream()
                .filter(module -> !module.equals("idempotency-bom"))
                .toList();
        assertThat(nodes("idempotency-bom/pom.xml", "//dependency/artifactId"))
                .extracting(BuildsAgreeTests::text)
                .containsExactlyInAnyOrderElementsOf(libraries);
        assertThat(Documentation.read(".ci/reproducible")).contains("libraries=(" + String.join(" ", libraries) + ")");
    }

    @Test
    void theWorkflowRunsOnTheSpringBootOfTheBuildsAndOnTheOldest() {
        String oldest = Documentation.read(".ci/run").replaceAll("(?s).*\noldest_boot=(\\S+).*", "$1");
        String newest = text(nodes("pom.xml", "/project/properties/*[name()='spring-boot.version']")
                .get(0));
        assertThat(Documentation.read(".github/workflows/build.yml"))
                .contains("boot: " + newest + " }", "boot: " + oldest + ",");
    }

    private static List<String> modules() {
        return nodes("pom.xml", "/project/modules/module").stream()
                .map(BuildsAgreeTests::text)
                .toList();
    }

    private static SortedSet<String> mavenDependencies() {
        SortedSet<String> facts = new TreeSet<>();
        for (String folder : modules()) {
            String module = folder.replace("tests/", "");
            for (Node dependency : nodes(folder + "/pom.xml", "//dependency | //annotationProcessorPaths/path")) {
                Map<String, String> parts = new TreeMap<>();
                for (Node part = dependency.getFirstChild(); part != null; part = part.getNextSibling()) {
                    parts.put(part.getNodeName(), text(part));
                }
                boolean managed =
                        dependency.getParentNode().getParentNode().getNodeName().equals("dependencyManagement");
                String scope = dependency.getNodeName().equals("path") || managed
                        ? (managed ? "compile" : "processor")
                        : parts.containsKey("optional") ? "optional" : parts.getOrDefault("scope", "compile");
                facts.add("%s: %s %s:%s".formatted(module, scope, parts.get("groupId"), parts.get("artifactId")));
            }
        }
        return facts;
    }

    private static SortedSet<String> gradleDependencies() {
        Map<String, String> libraries = new TreeMap<>();
        find("(?m)^([\\w-]+) = \\{ module = \"([^\"]+)\"", CATALOG)
                .forEach(library -> libraries.put("libs." + library.group(1).replace('-', '.'), library.group(2)));
        String settings = Documentation.read("settings.gradle.kts");
        Map<String, String> folders = new TreeMap<>();
        find("project\\(\":([\\w-]+)\"\\)\\.projectDir = file\\(\"([^\"]+)\"\\)", settings)
                .forEach(moved -> folders.put(moved.group(1), moved.group(2)));
        SortedSet<String> facts = new TreeSet<>();
        find("(?m)^include\\(([^)]*)\\)", settings).stream()
                .flatMap(included -> find("\"([\\w-]+)\"", included.group(1)).stream())
                .map(module -> module.group(1))
                .forEach(module -> find(
                                "\"(\\w+)\"\\((?:(libs\\.[\\w.]+)|project\\(\":([\\w-]+)\"\\))\\)",
                                Documentation.read(folders.getOrDefault(module, module) + "/build.gradle.kts"))
                        .forEach(dependency -> facts.add("%s: %s %s"
                                .formatted(
                                        module,
                                        scopeOf(dependency.group(1)),
                                        (dependency.group(2) != null)
                                                ? libraries.get(dependency.group(2))
                                                : GROUP + dependency.group(3)))));
        return facts;
    }

    private static String scopeOf(String configuration) {
        return switch (configuration) {
            case "api", "implementation" -> "compile";
            case "runtimeOnly" -> "runtime";
            case "testImplementation", "testRuntimeOnly" -> "test";
            case "annotationProcessor" -> "processor";
            default -> configuration;
        };
    }

    private static List<MatchResult> find(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().toList();
    }

    private static String text(Node node) {
        return node.getTextContent().strip();
    }

    private static List<Node> nodes(String path, String xpath) {
        // The only property of the project that is used in coordinates.
        String xml = Documentation.read(path)
                .replaceFirst(" xmlns=\"[^\"]+\"", "")
                .replace("${project.groupId}", "dev.idempotency");
        try {
            XPathNodes found =
                    XPATH.evaluateExpression(xpath, new InputSource(new StringReader(xml)), XPathNodes.class);
            List<Node> nodes = new ArrayList<>();
            found.forEach(nodes::add);
            return nodes;
        } catch (XPathExpressionException ex) {
            throw new IllegalArgumentException(xpath, ex);
        }
    }
}
