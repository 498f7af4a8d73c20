package dev.idempotency.build;

import static dev.idempotency.build.BuildsAgreeTests.notUnderstood;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Reads the Gradle scripts as text: they are kept plain, and what is not plain is refused. */
final class GradleBuild {

    private static final String CATALOG = "gradle/libs.versions.toml";
    private static final String ROOT = "build.gradle.kts";
    private static final String VERSION = "([\\w-]+) = (?:\"([^\"]+)\"|\\{ strictly = \"([^\"]+)\" })";
    private static final String LIBRARY =
            "([\\w-]+) = \\{ (?:module|id) = \"([^\"]+)\"(?:, version\\.ref = \"([^\"]+)\")? }";
    private static final String DEPENDENCY =
            "\"(\\w+)(?:\"\\(|\"\\((platform)\\()(?:rootProject\\.)?(libs\\.[\\w.]+|project\\(\":[\\w-]+\"\\))\\)+";
    private static final String ELSEWHERE = "\\bdependencies\\b\\s*[{.(]|\\blibs\\.(?!plugins\\.|versions\\.)";
    // Maven's Surefire brings it by itself.
    private static final String LAUNCHER = "\"testRuntimeOnly\"(rootProject.libs.junit.platform.launcher)";

    private final SortedSet<String> facts = new TreeSet<>();
    /** Coordinates and version of what the scripts call {@code libs.some.name} or {@code project(":name")}. */
    private final Map<String, String> artifacts = new HashMap<>();

    /** What the build says, one fact a line, in words that belong neither to Maven nor to Gradle. */
    static SortedSet<String> facts() {
        GradleBuild build = new GradleBuild();
        build.readCatalog();
        build.readRoot();
        return build.facts;
    }

    private void readCatalog() {
        Map<String, MatchResult> versions = new HashMap<>();
        for (String line : lines(CATALOG, "#.*|\\[(versions|libraries|plugins)]")) {
            if (line.matches(VERSION)) {
                MatchResult version = match(CATALOG, line, VERSION);
                versions.put(version.group(1), version);
                this.facts.add(version.group(1) + ".version = " + stated(version));
                continue;
            }
            MatchResult library = match(CATALOG, line, LIBRARY);
            String version = "managed";
            if (library.group(3) != null) {
                MatchResult reference = Objects.requireNonNull(versions.get(library.group(3)), line);
                // Spring Boot's platform lifts what it manages to its own version, unless that is stated strictly.
                boolean lifted = library.group(2).startsWith("org.springframework.")
                        && !library.group(3).equals("spring-boot")
                        && reference.group(3) == null;
                version = lifted ? version : stated(reference);
            }
            if (line.contains("{ module = ")) {
                this.artifacts.put("libs." + library.group(1).replace('-', '.'), library.group(2) + " " + version);
            }
        }
        // Their plugins for Maven and for Gradle count apart.
        this.facts.removeIf(fact -> fact.contains("spotless") || fact.contains("cyclonedx"));
    }

    private void readRoot() {
        String group = String.join("", all(ROOT, "group = \"([^\"]+)\""));
        String version = String.join("", all(ROOT, "(?<![\\w.])version = \"([^\"]+)\""));
        this.facts.add("project " + group + " " + version);
        this.facts.add("Java = " + all(ROOT, "options\\.release\\.set\\((\\d+)\\)"));
        projectsWith("maven-publish").forEach(project -> this.facts.add("publishes " + project));
        List<String> everywhere = new ArrayList<>(dependencyLines(ROOT));
        everywhere.remove(LAUNCHER);
        List<String> platforms = all(ROOT, "project\\(\":([\\w-]+)\"\\) \\{ apply\\(plugin = \"java-platform\"\\) }");
        List<String> modules = quoted("settings.gradle.kts", "(?m)^include\\(([^)]*)\\)");
        modules.forEach(name -> this.artifacts.put("project(\":" + name + "\")", group + ":" + name + " " + version));
        for (String module : modules) {
            this.facts.add("module " + module);
            String script = module + "/build.gradle.kts";
            if (platforms.contains(module)) {
                readPlatform(module, script);
                continue;
            }
            everywhere.forEach(line -> readDependency(module, ROOT, line));
            dependencyLines(script).forEach(line -> readDependency(module, script, line));
        }
    }

    /** The projects in whose block of the root script this plugin is the first. */
    private List<String> projectsWith(String plugin) {
        String block = "configure\\(listOf\\((.*)\\)\\) \\{\\s+apply\\(plugin = \"" + Pattern.quote(plugin) + "\"\\)";
        return quoted(ROOT, block).stream().map(path -> path.substring(1)).toList();
    }

    private void readPlatform(String module, String script) {
        List<String> lines = new ArrayList<>(dependencyLines(script));
        if (!lines.remove("constraints {")) {
            throw notUnderstood(script, "no constraints");
        }
        for (String line : lines) {
            MatchResult constraint = match(script, line, "\"api\"\\((project\\(\":[\\w-]+\"\\))\\)");
            this.facts.add(module + ": manages " + this.artifacts.get(constraint.group(1)));
        }
    }

    private void readDependency(String module, String script, String line) {
        MatchResult dependency = match(script, line, DEPENDENCY);
        String scope =
                switch ((dependency.group(2) != null) ? "platform" : dependency.group(1)) {
                    case "platform" -> "BOM";
                    case "api", "implementation" -> "compile";
                    case "optional" -> "optional";
                    case "runtimeOnly" -> "runtime";
                    case "testImplementation", "testRuntimeOnly" -> "test";
                    case "annotationProcessor" -> "processor";
                    default -> throw notUnderstood(script, line);
                };
        String artifact = this.artifacts.get(dependency.group(3));
        if (artifact == null) {
            throw notUnderstood(script, line);
        }
        this.facts.add(module + ": " + scope + " " + artifact);
    }

    /** The lines of the script's one {@code dependencies} block, without comments. */
    private List<String> dependencyLines(String script) {
        List<String> lines = lines(script, "(^|\\s)//.*");
        int start = lines.indexOf("dependencies {") + 1;
        int end = start + lines.subList(start, lines.size()).indexOf("}");
        List<String> outside = new ArrayList<>(lines.subList(0, start - 1));
        outside.addAll(lines.subList(end, lines.size()));
        outside.stream().filter(Pattern.compile(ELSEWHERE).asPredicate()).forEach(line -> {
            throw notUnderstood(script, line);
        });
        return lines.subList(start, end);
    }

    private static String stated(MatchResult version) {
        return (version.group(2) != null) ? version.group(2) : version.group(3);
    }

    private List<String> lines(String path, String ignored) {
        return Documentation.read(path)
                .lines()
                .map(line -> line.replaceFirst(ignored, "").strip())
                .filter(line -> !line.isEmpty())
                .toList();
    }

    private static MatchResult match(String path, String line, String regex) {
        return Pattern.compile("^" + regex + "$")
                .matcher(line)
                .results()
                .findFirst()
                .orElseThrow(() -> notUnderstood(path, line));
    }

    private List<String> all(String script, String regex) {
        return all(Pattern.compile(regex), Documentation.read(script));
    }

    private List<String> quoted(String script, String regex) {
        return all(Pattern.compile("\"([^\"]+)\""), all(script, regex).toString());
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }
}
