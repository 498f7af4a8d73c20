package dev.idempotency.build;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the Gradle scripts as text: they are kept plain, and what is not plain is refused. */
final class GradleBuild {

    private static final Pattern DEPENDENCY =
            Pattern.compile("\"(\\w+)\"\\((?:(?:rootProject\\.)?(libs\\.[\\w.]+)|project\\(\":([\\w-]+)\"\\))\\)");
    private static final Pattern PLATFORM =
            Pattern.compile("\"(\\w+)\"\\(platform\\((?:rootProject\\.)?(libs\\.[\\w.]+)\\)\\)");
    private static final Pattern QUOTED = Pattern.compile("\"([^\"]+)\"");
    private static final Pattern LIBRARY_IN_USE = Pattern.compile("\\blibs\\.(?!plugins\\.|versions\\.)");
    private static final String LAUNCHER = "org.junit.platform:junit-platform-launcher";
    private static final String ROOT = "build.gradle.kts";

    private final BuildFiles files;
    private final VersionCatalog catalog;
    private final String group;
    private final String version;

    private GradleBuild(BuildFiles files) {
        this.files = files;
        this.catalog = new VersionCatalog(files.text("gradle/libs.versions.toml"));
        this.group = only(ROOT, "group = \"([^\"]+)\"");
        this.version = only(ROOT, "(?<![\\w.])version = \"([^\"]+)\"");
    }

    static Build read(BuildFiles files) {
        return new GradleBuild(files).read();
    }

    private Build read() {
        SortedSet<String> boms = new TreeSet<>();
        SortedSet<Dependency> everywhere = new TreeSet<>();
        for (String line : dependencyLines(ROOT)) {
            Matcher platform = PLATFORM.matcher(line);
            if (platform.matches()) {
                VersionCatalog.Library bom = this.catalog.library(platform.group(2));
                boms.add(bom.coordinates() + ":" + bom.statedVersion());
            } else {
                everywhere.add(dependency(ROOT, line));
            }
        }
        // Maven's Surefire brings the launcher by itself.
        everywhere.removeIf(dependency -> dependency.coordinates().equals(LAUNCHER));

        SortedMap<String, SortedSet<Dependency>> modules = new TreeMap<>();
        for (String module : quoted(only("settings.gradle.kts", "(?m)^include\\(([^)]*)\\)"))) {
            String script = module + "/build.gradle.kts";
            SortedSet<Dependency> dependencies = new TreeSet<>(everywhere);
            dependencyLines(script).forEach(line -> dependencies.add(dependency(script, line)));
            modules.put(module, dependencies);
        }
        return new Build(
                this.group,
                this.version,
                only(ROOT, "options\\.release\\.set\\((\\d+)\\)"),
                quoted(only(ROOT, "options\\.compilerArgs\\.addAll\\(listOf\\(([^)]*)\\)\\)")),
                this.catalog.pluginVersion("org.springframework.boot"),
                versions(),
                boms,
                modules,
                publication());
    }

    /** Every version of the catalogue but Spotless's, whose plugins for Maven and Gradle count apart. */
    private SortedMap<String, String> versions() {
        SortedMap<String, String> versions = this.catalog.versions();
        versions.remove("spotless");
        return versions;
    }

    private Dependency dependency(String script, String line) {
        Matcher matcher = DEPENDENCY.matcher(line);
        if (!matcher.matches()) {
            throw new NotUnderstood(script, line);
        }
        Scope scope =
                switch (matcher.group(1)) {
                    case "api", "implementation" -> Scope.COMPILE;
                    case "optional" -> Scope.OPTIONAL;
                    case "runtimeOnly" -> Scope.RUNTIME;
                    case "testImplementation", "testRuntimeOnly" -> Scope.TEST;
                    case "annotationProcessor" -> Scope.PROCESSOR;
                    default -> throw new NotUnderstood(script, line);
                };
        if (matcher.group(3) != null) {
            return new Dependency(this.group + ":" + matcher.group(3), scope, this.version);
        }
        VersionCatalog.Library library = this.catalog.library(matcher.group(2));
        return new Dependency(library.coordinates(), scope, library.version(this.catalog.version("spring-boot")));
    }

    /** The lines of the script's one {@code dependencies} block, without comments. */
    private List<String> dependencyLines(String script) {
        List<String> found = new ArrayList<>();
        boolean inside = false;
        boolean seen = false;
        for (String raw : this.files.text(script).lines().toList()) {
            String line = raw.replaceFirst("(^|\\s)//.*", "").strip();
            if (inside && line.equals("}")) {
                inside = false;
            } else if (inside && !line.isEmpty()) {
                found.add(line);
            } else if (line.equals("dependencies {") && !seen) {
                inside = true;
                seen = true;
            } else if (line.matches(".*\\bdependencies\\b\\s*[{.(].*")
                    || LIBRARY_IN_USE.matcher(line).find()) {
                throw new NotUnderstood(script, line);
            }
        }
        return found;
    }

    private Publication publication() {
        SortedMap<String, SortedSet<String>> attachments = new TreeMap<>();
        String root = this.files.text(ROOT);
        SortedSet<String> jars = new TreeSet<>();
        if (root.contains("withSourcesJar()")) {
            jars.add("sources");
        }
        if (root.contains("withJavadocJar()")) {
            jars.add("javadoc");
        }
        String published = only(ROOT, "configure\\(listOf\\((.*)\\)\\) \\{\\s+apply\\(plugin = \"maven-publish\"\\)");
        for (String project : quoted(published)) {
            attachments.put(project.substring(1), jars);
        }
        return new Publication(
                attachments,
                only(ROOT, "description\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "pom \\{[^{}]*\\burl\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "license \\{[^}]*name\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "license \\{[^}]*url\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "developer \\{[^}]*name\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "\\bconnection\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "developerConnection\\.set\\(\"([^\"]+)\"\\)"),
                only(ROOT, "scm \\{[^}]*url\\.set\\(\"([^\"]+)\"\\)"));
    }

    private static List<String> quoted(String text) {
        return QUOTED.matcher(text).results().map(result -> result.group(1)).toList();
    }

    private String only(String script, String regex) {
        List<MatchResult> results = Pattern.compile(regex)
                .matcher(this.files.text(script))
                .results()
                .toList();
        if (results.size() != 1) {
            throw new NotUnderstood(script, regex + ", found " + results.size() + " times,");
        }
        return results.get(0).group(1);
    }
}
