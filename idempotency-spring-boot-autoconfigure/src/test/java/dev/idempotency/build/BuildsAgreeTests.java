package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import org.junit.jupiter.api.Test;

/** The two builds say the same: whoever changes one of them changes the other. */
class BuildsAgreeTests {

    private final Build maven = MavenBuild.read(BuildFiles.ofThisProject());
    private final Build gradle = GradleBuild.read(BuildFiles.ofThisProject());

    @Test
    void bothBuildsHaveTheSameModules() {
        assertThat(this.gradle.modules().keySet())
                .containsExactlyElementsOf(this.maven.modules().keySet());
    }

    @Test
    void everyModuleHasTheSameDependenciesInTheSameScopesAndVersions() {
        this.maven.modules().forEach((module, dependencies) -> assertThat(
                        this.gradle.modules().getOrDefault(module, Collections.emptySortedSet()))
                .as("dependencies of %s in Gradle, compared with those in Maven", module)
                .containsExactlyInAnyOrderElementsOf(dependencies));
    }

    @Test
    void bothBuildsStateTheSameVersions() {
        assertThat(this.gradle.versions()).isEqualTo(this.maven.versions());
    }

    @Test
    void bothBuildsLeaveTheOtherVersionsToTheSameBoms() {
        assertThat(this.gradle.boms()).isEqualTo(this.maven.boms());
    }

    @Test
    void thePluginOfSpringBootHasTheVersionOfSpringBootInBothBuilds() {
        assertThat(this.maven.springBootPlugin())
                .isEqualTo(this.maven.versions().get("spring-boot"));
        assertThat(this.gradle.springBootPlugin()).isEqualTo(this.maven.springBootPlugin());
    }

    @Test
    void bothBuildsGiveTheModulesTheSameGroupAndVersion() {
        assertThat(this.gradle.group()).isEqualTo(this.maven.group());
        assertThat(this.gradle.version()).isEqualTo(this.maven.version());
    }

    @Test
    void bothBuildsCompileForTheSameJavaWithTheSameWarningsAsErrors() {
        assertThat(this.gradle.javaRelease()).isEqualTo(this.maven.javaRelease());
        assertThat(this.gradle.compilerArguments())
                .containsExactlyInAnyOrderElementsOf(this.maven.compilerArguments())
                .contains("-parameters", "-Werror");
    }

    @Test
    void bothBuildsPublishTheSameModulesWithSourcesAndJavadoc() {
        assertThat(this.gradle.publication().attachments())
                .isEqualTo(this.maven.publication().attachments())
                .isNotEmpty()
                .allSatisfy((module, jars) -> assertThat(jars).containsExactly("javadoc", "sources"));
    }

    @Test
    void bothBuildsPublishWithTheSameDescriptionLicenceAndSourceRepository() {
        assertThat(this.gradle.publication()).isEqualTo(this.maven.publication());
        assertThat(this.maven.publication().licenceUrl()).isEqualTo("https://www.apache.org/licenses/LICENSE-2.0");
    }
}
