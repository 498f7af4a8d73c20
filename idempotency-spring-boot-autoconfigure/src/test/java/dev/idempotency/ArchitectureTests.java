package dev.idempotency;

import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

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
 * The packages stand in the order of a message's walk. A package that the design does not name breaks a rule.
 */
class ArchitectureTests {

    private static final String OURS = "dev.idempotency";
    private static final List<String> ROOMS = List.of(
            "listener",
            "failure",
            "inbox",
            "received",
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

    @Test
    void packagesDoNotFormCycles() {
        packagesHaveNoCycles().check(OUR_CLASSES);
    }

    @Test
    void noPackageImportsOneToItsLeft() {
        dependenciesFollowTheWalk().check(OUR_CLASSES);
    }

    @Test
    void everyPackageIsOneThatTheDesignNames() {
        packagesAreThoseOfTheDesign().check(OUR_CLASSES);
    }

    @Test
    void autoConfigurationsArePublicAndFinal() {
        autoConfigurationsArePublicFinal().check(OUR_CLASSES);
    }

    @Test
    void noClassIsCalledUtilsHelperManagerOrImpl() {
        namesSayWhatAClassIs().check(OUR_CLASSES);
    }

    @Test
    void everyPackageIsNullMarked() {
        packagesAreNullMarked().check(OUR_CLASSES);
    }

    private static ArchRule packagesHaveNoCycles() {
        return slices().assignedFrom(new OnePackageOneSlice()).should().beFreeOfCycles();
    }

    private static ArchRule dependenciesFollowTheWalk() {
        return layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("api")
                .definedBy(OURS)
                .layer("listener")
                .definedBy(OURS + ".listener..")
                .layer("failure")
                .definedBy(OURS + ".failure..")
                .layer("inbox")
                .definedBy(OURS + ".inbox..")
                .layer("received")
                .definedBy(OURS + ".received..")
                .layer("key")
                .definedBy(OURS + ".key..")
                .layer("store")
                .definedBy(OURS + ".store..")
                .layer("observe")
                .definedBy(OURS + ".observe..")
                .layer("retention")
                .definedBy(OURS + ".retention..")
                .layer("actuate")
                .definedBy(OURS + ".actuate..")
                .layer("check")
                .definedBy(OURS + ".check..")
                .layer("autoconfigure")
                .definedBy(OURS + ".autoconfigure..")
                .whereLayer("api")
                .mayNotAccessAnyLayer()
                .whereLayer("listener")
                .mayOnlyAccessLayers("api", "failure", "inbox", "key", "store", "observe")
                .whereLayer("failure")
                .mayOnlyAccessLayers("api", "received", "observe")
                .whereLayer("inbox")
                .mayOnlyAccessLayers("api", "failure", "received", "store", "observe")
                .whereLayer("received")
                .mayNotAccessAnyLayer()
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

    private static ArchRule packagesAreThoseOfTheDesign() {
        String[] packages = Stream.concat(Stream.of(OURS), ROOMS.stream().map(room -> OURS + "." + room + ".."))
                .toArray(String[]::new);
        return classes().should().resideInAnyPackage(packages);
    }

    private static ArchRule autoConfigurationsArePublicFinal() {
        return classes()
                .that()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .bePublic()
                .andShould()
                .haveModifier(JavaModifier.FINAL);
    }

    private static ArchRule namesSayWhatAClassIs() {
        return noClasses().should().haveNameMatching(".*(Utils|Helper|Manager|Impl)");
    }

    private static ArchRule packagesAreNullMarked() {
        return classes().should(new BeInANullMarkedPackage());
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
