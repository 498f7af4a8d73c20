package dev.idempotency.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SortedSet;
import org.junit.jupiter.api.Test;

/** The two builds say the same: whoever changes one of them changes the other. */
class BuildsAgreeTests {

    private static final SortedSet<String> MAVEN = MavenBuild.facts();

    @Test
    void bothBuildsHaveTheSameModulesDependenciesScopesAndVersions() {
        assertThat(GradleBuild.facts())
                .as("what Gradle says, compared with what Maven says")
                .containsExactlyInAnyOrderElementsOf(MAVEN);
    }

    @Test
    void theBomManagesWhatIsPublished() {
        List<String> published = MAVEN.stream()
                .filter(fact -> fact.startsWith("publishes "))
                .map(fact -> fact.split(" ")[1])
                .filter(module -> !module.equals("idempotency-bom"))
                .toList();
        assertThat(MAVEN)
                .filteredOn(fact -> fact.startsWith("idempotency-bom: manages "))
                .extracting(fact -> fact.replaceAll(".*:| .*$", ""))
                .containsExactlyInAnyOrderElementsOf(published);
        assertThat(Documentation.read(".ci/reproducible")).contains("libraries=(" + String.join(" ", published) + ")");
    }

    @Test
    void theWorkflowRunsOnTheSpringBootOfTheBuildsAndOnTheOldest() {
        String oldest = Documentation.read(".ci/run").replaceAll("(?s).*\noldest_boot=(\\S+).*", "$1");
        String name = "spring-boot.version = ";
        assertThat(Documentation.read(".github/workflows/build.yml"))
                .contains("boot: " + MAVEN.tailSet(name).first().replace(name, "") + " }", "boot: " + oldest + ",");
    }

    /** A build says something that the comparison cannot read, and so cannot compare. */
    static IllegalStateException notUnderstood(String path, String what) {
        return new IllegalStateException(path + ": \"" + what
                + "\" is not understood by BuildsAgreeTests; teach its reader, or write it plainly");
    }
}
