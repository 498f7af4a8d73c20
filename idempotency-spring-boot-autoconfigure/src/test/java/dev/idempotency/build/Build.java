package dev.idempotency.build;

import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * What a build says, in words that belong neither to Maven nor to Gradle: two builds agree when these are equal.
 *
 * @param springBootPlugin the version of Spring Boot's plugin for the build tool
 * @param versions the versions stated in one place, by name
 * @param boms the BOMs that manage the other versions, as {@code group:artifact:version}
 * @param modules each module's dependencies, by the module's name
 */
record Build(
        String group,
        String version,
        String javaRelease,
        List<String> compilerArguments,
        String springBootPlugin,
        SortedMap<String, String> versions,
        SortedSet<String> boms,
        SortedMap<String, SortedSet<Dependency>> modules,
        Publication publication) {

    private static final String SPRING = "org.springframework.";
    private static final String SPRING_BOOT = SPRING + "boot:";

    /**
     * Puts an unstated version into words. Maven must state the version of an annotation processor where Gradle leaves
     * it to Spring Boot's BOM, so what that BOM manages for Spring Boot itself counts as stated.
     */
    static String managedVersion(String coordinates, String springBootVersion) {
        return coordinates.startsWith(SPRING_BOOT) ? springBootVersion : Dependency.MANAGED;
    }

    /** Whether Spring Boot's BOM manages it, so that Gradle lifts a lower version that is not stated strictly. */
    static boolean isLifted(String coordinates) {
        return coordinates.startsWith(SPRING);
    }
}
