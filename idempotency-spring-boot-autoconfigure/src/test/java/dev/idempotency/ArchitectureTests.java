package dev.idempotency;

import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;

/**
 * The packages stand in the order of a message's walk, and each rule is also seen to fail on classes that break it.
 *
 * <p>A package that does not exist yet breaks no rule; a package that the design does not name does.
 */
class ArchitectureTests {

    private static final String OURS = "dev.idempotency";
    private static final String WRONG = "dev.idempotency.architecture.wrong";
    private static final List<String> ROOMS = List.of(
            "listener",
            "failure",
            "inbox",
            "key",
            "store",
            "observe",
            "retention",
            "actuate",
            "check",
            "autoconfigure");

    private static final JavaClasses OUR_CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/dev/idempotency/testing/"))
            .importPackages(OURS);
    private static final JavaClasses WRONG_CLASSES = new ClassFileImporter().importPackages(WRONG);

    @Test
    void packagesDoNotFormCycles() {
        packagesHaveNoCycles().check(OUR_CLASSES);
    }

    @Test
    void aCycleOfPackagesIsSeen() {
        assertThat(violations(packagesHaveNoCycles()))
                .anySatisfy(violation -> assertThat(violation).contains(WRONG + ".listener", WRONG + ".store"));
    }

    @Test
    void noPackageImportsOneToItsLeft() {
        dependenciesFollowTheWalk(OURS).check(OUR_CLASSES);
    }

    @Test
    void anImportAgainstTheWalkIsSeen() {
        assertThat(violations(dependenciesFollowTheWalk(WRONG)))
                .anySatisfy(violation -> assertThat(violation).contains("StoreThatKnowsItsListener"))
                .anySatisfy(violation -> assertThat(violation).contains("ApiThatKnowsItsStore"))
                .noneSatisfy(violation -> assertThat(violation).contains("Field <" + WRONG + ".listener."));
    }

    @Test
    void everyPackageIsOneThatTheDesignNames() {
        packagesAreThoseOfTheDesign(OURS).check(OUR_CLASSES);
    }

    @Test
    void aPackageThatTheDesignDoesNotNameIsSeen() {
        assertThat(violations(packagesAreThoseOfTheDesign(WRONG)))
                .singleElement()
                .asString()
                .contains("elsewhere.Stranger");
    }

    @Test
    void autoConfigurationsArePublicAndFinal() {
        autoConfigurationsArePublicFinal().check(OUR_CLASSES);
    }

    @Test
    void anAutoConfigurationThatIsNotPublicOrNotFinalIsSeen() {
        assertThat(violations(autoConfigurationsArePublicFinal()))
                .anySatisfy(violation -> assertThat(violation).contains("HiddenAutoConfiguration"))
                .anySatisfy(violation -> assertThat(violation).contains("OpenAutoConfiguration"));
    }

    @Test
    void noClassIsCalledUtilsHelperManagerOrImpl() {
        namesSayWhatAClassIs().check(OUR_CLASSES);
    }

    @Test
    void aClassCalledUtilsIsSeen() {
        assertThat(violations(namesSayWhatAClassIs()))
                .singleElement()
                .asString()
                .contains("KeyUtils");
    }

    @Test
    void everyPackageIsNullMarked() {
        packagesAreNullMarked().check(OUR_CLASSES);
    }

    @Test
    void aPackageThatIsNotNullMarkedIsSeen() {
        assertThat(violations(packagesAreNullMarked()))
                .anySatisfy(violation -> assertThat(violation).contains(WRONG + ".key"))
                .noneSatisfy(violation -> assertThat(violation).contains(WRONG + ".listener"));
    }

    private static ArchRule packagesHaveNoCycles() {
        return slices().assignedFrom(new OnePackageOneSlice())
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true);
    }

    private static ArchRule dependenciesFollowTheWalk(String root) {
        return layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .withOptionalLayers(true)
                .layer("api")
                .definedBy(root)
                .layer("listener")
                .definedBy(root + ".listener..")
                .layer("failure")
                .definedBy(root + ".failure..")
                .layer("inbox")
                .definedBy(root + ".inbox..")
                .layer("key")
                .definedBy(root + ".key..")
                .layer("store")
                .definedBy(root + ".store..")
                .layer("observe")
                .definedBy(root + ".observe..")
                .layer("retention")
                .definedBy(root + ".retention..")
                .layer("actuate")
                .definedBy(root + ".actuate..")
                .layer("check")
                .definedBy(root + ".check..")
                .layer("autoconfigure")
                .definedBy(root + ".autoconfigure..")
                .whereLayer("api")
                .mayNotAccessAnyLayer()
                .whereLayer("listener")
                .mayOnlyAccessLayers("api", "failure", "inbox", "key", "store", "observe")
                .whereLayer("failure")
                .mayOnlyAccessLayers("api", "observe")
                .whereLayer("inbox")
                .mayOnlyAccessLayers("api", "failure", "store", "observe")
                .whereLayer("key")
                .mayOnlyAccessLayers("api", "store", "observe")
                .whereLayer("store")
                .mayOnlyAccessLayers("api", "observe")
                .whereLayer("observe")
                .mayOnlyAccessLayers("api")
                .whereLayer("retention")
                .mayOnlyAccessLayers("api", "inbox", "store", "observe")
                .whereLayer("actuate")
                .mayOnlyAccessLayers("api", "listener", "failure", "inbox", "key", "store", "retention", "observe")
                .whereLayer("check")
                .mayOnlyAccessLayers("api", "listener", "failure", "key", "store", "observe")
                .whereLayer("autoconfigure")
                .mayNotBeAccessedByAnyLayer();
    }

    private static ArchRule packagesAreThoseOfTheDesign(String root) {
        String[] packages = Stream.concat(Stream.of(root), ROOMS.stream().map(room -> root + "." + room + ".."))
                .toArray(String[]::new);
        return classes().should().resideInAnyPackage(packages).allowEmptyShould(true);
    }

    private static ArchRule autoConfigurationsArePublicFinal() {
        return classes()
                .that()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .bePublic()
                .andShould()
                .haveModifier(JavaModifier.FINAL)
                .allowEmptyShould(true);
    }

    private static ArchRule namesSayWhatAClassIs() {
        return noClasses()
                .should()
                .haveNameMatching(".*(Utils|Helper|Manager|Impl)")
                .allowEmptyShould(true);
    }

    private static ArchRule packagesAreNullMarked() {
        return classes().should(new BeInANullMarkedPackage()).allowEmptyShould(true);
    }

    private static List<String> violations(ArchRule rule) {
        return rule.evaluate(WRONG_CLASSES).getFailureReport().getDetails();
    }

    private static final class OnePackageOneSlice implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            return SliceIdentifier.of(javaClass.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    }

    private static final class BeInANullMarkedPackage extends ArchCondition<JavaClass> {

        BeInANullMarkedPackage() {
            super("be in a package whose package-info.java says @NullMarked");
        }

        @Override
        public void check(JavaClass javaClass, ConditionEvents events) {
            boolean marked = javaClass
                    .getPackage()
                    .tryGetPackageInfo()
                    .filter(info -> info.isAnnotatedWith(NullMarked.class))
                    .isPresent();
            if (!marked) {
                events.add(violated(
                        javaClass, javaClass.getName() + " is in a package without @NullMarked in its package-info"));
            }
        }
    }
}
