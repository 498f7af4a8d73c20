package dev.idempotency;

import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;

/** The rooms of the house, and which of them know which. A package that is not named here breaks a rule. */
class ArchitectureTests {

    private static final String OURS = "dev.idempotency";

    /** Which rooms a room may know besides {@code dev.idempotency}, which all may know and which knows none. */
    private static final Map<String, Set<String>> ROOMS = Map.ofEntries(
            entry("key", Set.of()),
            entry("observe", Set.of()),
            entry("database", Set.of()),
            entry("kafka", Set.of()),
            entry("failure", Set.of("kafka", "observe")),
            entry("store", Set.of("database", "failure", "kafka", "observe")),
            entry("inbox", Set.of("database", "failure", "kafka", "observe", "store")),
            entry("definition", Set.of("database", "failure", "inbox", "kafka", "key", "observe", "result", "store")),
            entry("listener", Set.of("definition", "failure", "inbox", "kafka", "key", "observe", "result", "store")),
            entry("retention", Set.of("database", "failure", "inbox", "job", "observe", "store")),
            entry("result", Set.of("database", "store")),
            entry("operation", Set.of("database", "observe", "result", "store")),
            entry("producer", Set.of("kafka", "key")),
            entry("job", Set.of()),
            entry("redrive", Set.of("definition", "failure", "job", "kafka", "observe")),
            entry(
                    "reconciliation",
                    Set.of(
                            "definition",
                            "failure",
                            "inbox",
                            "job",
                            "kafka",
                            "listener",
                            "observe",
                            "redrive",
                            "store")),
            entry("metrics", Set.of("inbox", "observe", "reconciliation", "retention", "store")),
            entry("check", Set.of("database", "definition", "failure", "kafka", "key", "observe", "result", "store")),
            entry(
                    "actuate",
                    Set.of(
                            "database",
                            "failure",
                            "inbox",
                            "key",
                            "metrics",
                            "observe",
                            "reconciliation",
                            "redrive",
                            "retention",
                            "store")),
            entry(
                    "autoconfigure",
                    Set.of(
                            "actuate",
                            "check",
                            "database",
                            "definition",
                            "failure",
                            "inbox",
                            "kafka",
                            "key",
                            "listener",
                            "metrics",
                            "observe",
                            "operation",
                            "producer",
                            "reconciliation",
                            "redrive",
                            "result",
                            "retention",
                            "store")));

    /** Lines of main code per package: whoever adds some removes others. */
    private static final Map<String, Integer> BUDGETS = Map.ofEntries(
            entry("", 1_450),
            entry("actuate", 1_350),
            entry("autoconfigure", 1_550),
            entry("check", 1_700),
            entry("database", 2_300),
            entry("definition", 2_150),
            entry("failure", 2_150),
            entry("inbox", 1_450),
            entry("job", 250),
            entry("kafka", 1_900),
            entry("key", 950),
            entry("listener", 2_150),
            entry("metrics", 700),
            entry("observe", 350),
            entry("operation", 700),
            entry("producer", 250),
            entry("reconciliation", 800),
            entry("redrive", 1_150),
            entry("result", 350),
            entry("retention", 500),
            entry("store", 2_450));

    private static final JavaClasses OUR_CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/dev/idempotency/testing/"))
            .importPackages(OURS);

    @Test
    void packagesDoNotFormCycles() {
        slices().assignedFrom(slicedBy("packages", JavaClass::getPackageName))
                .should()
                .beFreeOfCycles()
                .check(OUR_CLASSES);
    }

    @Test
    void classesDoNotFormCycles() {
        slices().assignedFrom(slicedBy("classes", ArchitectureTests::topLevelName))
                .should()
                .beFreeOfCycles()
                .check(OUR_CLASSES);
    }

    @Test
    void aRoomKnowsOnlyTheRoomsItMayKnow() {
        classes().should(knowOnlyRoomsTheyMayKnow()).check(OUR_CLASSES);
    }

    @Test
    void everyPackageKeepsToItsBudgetOfLines() throws IOException {
        Map<String, Integer> lines = new TreeMap<>();
        Path root = Path.of("src/main/java/dev/idempotency");
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String room = root.relativize(file.getParent()).toString();
                lines.merge(room, Files.readAllLines(file).size(), Integer::sum);
            }
        }
        assertThat(lines).hasSameSizeAs(BUDGETS);
        assertThat(lines)
                .allSatisfy((room, count) -> assertThat(count).as(room).isLessThanOrEqualTo(BUDGETS.get(room)));
    }

    @Test
    void everyPackageIsOneThatTheDesignNames() {
        List<String> packages =
                ROOMS.keySet().stream().map(room -> OURS + "." + room).collect(Collectors.toCollection(ArrayList::new));
        packages.add(OURS);
        classes().should().resideInAnyPackage(packages.toArray(String[]::new)).check(OUR_CLASSES);
    }

    @Test
    void exceptionsThatUsersMeetStandInThePackageThatUsersTouch() {
        classes()
                .that()
                .areAssignableTo(Throwable.class)
                .and()
                .arePublic()
                .should()
                .resideInAPackage(OURS)
                .check(OUR_CLASSES);
    }

    @Test
    void autoConfigurationsArePublicAndFinal() {
        classes()
                .that()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .bePublic()
                .andShould()
                .haveModifier(JavaModifier.FINAL)
                .check(OUR_CLASSES);
    }

    @Test
    void noClassIsCalledUtilsHelperManagerOrImpl() {
        noClasses().should().haveNameMatching(".*(Utils|Helper|Manager|Impl)").check(OUR_CLASSES);
    }

    @Test
    void everyPackageIsNullMarked() {
        classes().should(beInANullMarkedPackage()).check(OUR_CLASSES);
    }

    private static String topLevelName(JavaClass javaClass) {
        JavaClass outer = javaClass;
        while (outer.getEnclosingClass().isPresent()) {
            outer = outer.getEnclosingClass().get();
        }
        return outer.getName();
    }

    private static SliceAssignment slicedBy(String what, Function<JavaClass, String> name) {
        return new SliceAssignment() {

            @Override
            public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                return SliceIdentifier.of(name.apply(javaClass));
            }

            @Override
            public String getDescription() {
                return what;
            }
        };
    }

    private static String roomOf(JavaClass javaClass) {
        String name = javaClass.getPackageName();
        return name.equals(OURS) ? "" : name.substring(OURS.length() + 1);
    }

    private static ArchCondition<JavaClass> knowOnlyRoomsTheyMayKnow() {
        return new ArchCondition<>("know only rooms that they may know") {

            @Override
            public void check(JavaClass javaClass, ConditionEvents events) {
                String room = roomOf(javaClass);
                Set<String> known = ROOMS.getOrDefault(room, Set.of());
                javaClass.getDirectDependenciesFromSelf().stream()
                        .filter(dependency ->
                                dependency.getTargetClass().getPackageName().startsWith(OURS))
                        .filter(dependency -> {
                            String target = roomOf(dependency.getTargetClass());
                            return !target.isEmpty() && !target.equals(room) && !known.contains(target);
                        })
                        .forEach(dependency -> events.add(violated(javaClass, dependency.getDescription())));
            }
        };
    }

    private static ArchCondition<JavaClass> beInANullMarkedPackage() {
        return new ArchCondition<>("be in a package whose package-info.java says @NullMarked") {

            @Override
            public void check(JavaClass javaClass, ConditionEvents events) {
                boolean marked = javaClass
                        .getPackage()
                        .tryGetPackageInfo()
                        .filter(info -> info.isAnnotatedWith(NullMarked.class))
                        .isPresent();
                if (!marked) {
                    events.add(violated(javaClass, javaClass.getName() + " is in a package without @NullMarked"));
                }
            }
        };
    }
}
