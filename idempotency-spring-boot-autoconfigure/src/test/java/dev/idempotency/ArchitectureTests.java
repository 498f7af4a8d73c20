package dev.idempotency;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.idempotency.build.Documentation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;

/**
 * Checks the size and the dependencies of packages; a package that is not listed fails the test. The public package of a
 * concept, such as {@code dev.idempotency.store}, and its internal one, {@code dev.idempotency.internal.store}, count as one
 * room.
 */
class ArchitectureTests {

    private static final String OURS = "dev.idempotency";
    private static final String INTERNAL = OURS + ".internal";

    /** The maximum number of lines of main code, and the rooms that may be used besides {@code dev.idempotency}. */
    private record Room(int lines, Set<String> known) {}

    /** A room that is full gets new lines only in exchange for old ones. */
    private static final Map<String, Room> ROOMS = Stream.of("""
            .                1310
            database         2862
            event           552
            operation         660 database event result store
            result            600 database event store
            retention         680 database event store
            store            1903 database
            check            1650 database definition failure kafka key event result store
            dedup             810 database kafka event store
            definition       2050 database dedup failure kafka key event result store
            failure          1900 database kafka event
            kafka            1450
            key               830 database kafka store
            listener         1980 database dedup definition failure kafka key event store
            producer          200 kafka key
            inbox            1450 database definition job kafka event retention store
            job               540 database kafka
            reconciliation    760 database definition inbox job kafka listener event redrive store
            redrive          1130 database definition failure job kafka event
            actuate          1220 database inbox job metrics event reconciliation redrive result retention store
            autoconfigure    1590 actuate check database dedup definition failure inbox job kafka key listener metrics event operation producer reconciliation redrive result retention store
            metrics           690 event store
            """.split("\n"))
            .map(line -> line.trim().split("\\s+"))
            .collect(Collectors.toMap(
                    words -> words[0].equals(".") ? "" : words[0],
                    words -> new Room(Integer.parseInt(words[1]), Set.of(Arrays.copyOfRange(words, 2, words.length)))));

    private static final JavaClasses OUR_CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/dev/idempotency/testing/"))
            .importPackages(OURS);

    @Test
    void packagesDoNotFormCycles() {
        slices().matching(OURS + ".(**)").should().beFreeOfCycles().check(OUR_CLASSES);
    }

    @Test
    void classesDoNotFormCycles() {
        SliceAssignment topLevelClasses = new SliceAssignment() {

            @Override
            public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                return SliceIdentifier.of(javaClass.getName().replaceFirst("\\$.*", ""));
            }

            @Override
            public String getDescription() {
                return "classes";
            }
        };
        slices().assignedFrom(topLevelClasses).should().beFreeOfCycles().check(OUR_CLASSES);
    }

    @Test
    void aRoomKnowsOnlyTheRoomsItMayKnow() {
        assertThat(OUR_CLASSES.stream().flatMap(type -> type.getDirectDependenciesFromSelf().stream()))
                .filteredOn(dependency ->
                        dependency.getTargetClass().getPackageName().startsWith(OURS))
                .filteredOn(dependency -> {
                    String room = roomOf(dependency.getOriginClass());
                    String target = roomOf(dependency.getTargetClass());
                    return !target.isEmpty()
                            && !target.equals(room)
                            && !ROOMS.get(room).known().contains(target);
                })
                .extracting(Dependency::getDescription)
                .isEmpty();
    }

    @Test
    void everyPackageKeepsToItsBudgetOfLines() throws IOException {
        Map<String, Integer> lines = new TreeMap<>();
        for (Path folder : Documentation.sources().toList()) {
            Path root = folder.resolve("dev/idempotency");
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String room = root.relativize(file.getParent()).toString().replaceFirst("^internal[/\\\\]", "");
                    lines.merge(room, Files.readAllLines(file).size(), Integer::sum);
                }
            }
        }
        assertThat(lines.keySet()).isEqualTo(ROOMS.keySet());
        assertThat(lines).allSatisfy((room, count) -> assertThat(count)
                .as(room)
                .isLessThanOrEqualTo(ROOMS.get(room).lines()));
    }

    @Test
    void fewTypesArePublicOutsideInternal() {
        assertThat(OUR_CLASSES.stream()
                        .filter(type ->
                                type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !type.getPackageName().startsWith(INTERNAL)))
                .hasSizeLessThanOrEqualTo(90);
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
        assertThat(OUR_CLASSES).extracting(JavaClass::getPackage).allMatch(each -> each.tryGetPackageInfo()
                .filter(info -> info.isAnnotatedWith(NullMarked.class))
                .isPresent());
    }

    private static String roomOf(JavaClass javaClass) {
        String name = javaClass.getPackageName();
        return name.equals(OURS) ? "" : name.substring(OURS.length() + 1).replaceFirst("^internal\\.", "");
    }
}
