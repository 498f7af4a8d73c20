package dev.idempotency.build;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.w3c.dom.Element;

/** Reads the POMs without Maven: inheritance is that of one parent, and what would need more is refused. */
final class MavenBuild {

    private static final String VERSION_SUFFIX = ".version";

    private final BuildFiles files;
    private final Map<String, String> properties = new HashMap<>();
    private final Map<String, String> managedVersions = new HashMap<>();
    private final SortedSet<String> boms = new TreeSet<>();
    private final Pom root;

    private MavenBuild(BuildFiles files) {
        this.files = files;
        this.root = pom("pom.xml");
        this.properties.put("project.version", this.root.text("version"));
        for (Element property : this.root.elements("properties").stream()
                .flatMap(element -> Pom.children(element).stream())
                .toList()) {
            this.properties.put(property.getTagName(), this.root.text(property));
        }
        for (Element managed : this.root.elements("dependencyManagement/dependencies/dependency")) {
            Map<String, String> parts = parts(this.root, managed);
            String coordinates = coordinates(this.root, parts);
            if (parts.remove("scope", "import") && parts.remove("type", "pom")) {
                this.boms.add(coordinates + ":" + parts.remove("version"));
            } else {
                this.managedVersions.put(coordinates, parts.remove("version"));
            }
            refuseRest(this.root, coordinates, parts);
        }
    }

    static Build read(BuildFiles files) {
        return new MavenBuild(files).read();
    }

    private Build read() {
        SortedSet<Dependency> everywhere = dependencies(this.root);
        SortedMap<String, SortedSet<Dependency>> modules = new TreeMap<>();
        SortedMap<String, SortedSet<String>> attachments = new TreeMap<>();
        for (Element element : this.root.elements("modules/module")) {
            String module = this.root.text(element);
            Pom pom = pom(module + "/pom.xml");
            SortedSet<Dependency> dependencies = dependencies(pom);
            dependencies.addAll(everywhere);
            modules.put(module, dependencies);
            if (published(pom)) {
                attachments.put(module, attachments(pom));
            }
        }
        return new Build(
                this.root.text("groupId"),
                this.root.text("version"),
                this.properties.get("maven.compiler.release"),
                compilerArguments(),
                springBootPlugin(),
                versions(),
                this.boms,
                modules,
                publication(attachments));
    }

    private SortedSet<Dependency> dependencies(Pom pom) {
        SortedSet<Dependency> dependencies = new TreeSet<>();
        for (Element element : pom.elements("dependencies/dependency")) {
            Map<String, String> parts = parts(pom, element);
            String coordinates = coordinates(pom, parts);
            Scope scope = scope(pom, coordinates, parts.remove("scope"), parts.remove("optional"));
            dependencies.add(new Dependency(coordinates, scope, version(coordinates, parts.remove("version"))));
            refuseRest(pom, coordinates, parts);
        }
        for (Element element : pom.anywhere("annotationProcessorPaths").stream()
                .flatMap(paths -> Pom.children(paths).stream())
                .toList()) {
            Map<String, String> parts = parts(pom, element);
            String coordinates = coordinates(pom, parts);
            dependencies.add(
                    new Dependency(coordinates, Scope.PROCESSOR, version(coordinates, parts.remove("version"))));
            refuseRest(pom, coordinates, parts);
        }
        int read = pom.elements("dependencies/dependency").size()
                + pom.elements("dependencyManagement/dependencies/dependency").size();
        if (pom.anywhere("dependency").size() != read
                || (pom != this.root && !pom.elements("dependencyManagement").isEmpty())) {
            throw new NotUnderstood(pom.path(), "a <dependency> of a profile, a plugin or a module's own management");
        }
        return dependencies;
    }

    private static Scope scope(Pom pom, String coordinates, String scope, String optional) {
        if ("true".equals(optional) && (scope == null || scope.equals("compile"))) {
            return Scope.OPTIONAL;
        }
        if (optional == null || optional.equals("false")) {
            if (scope == null || scope.equals("compile")) {
                return Scope.COMPILE;
            }
            if (scope.equals("runtime")) {
                return Scope.RUNTIME;
            }
            if (scope.equals("test")) {
                return Scope.TEST;
            }
        }
        throw new NotUnderstood(pom.path(), coordinates + " with scope " + scope + ", optional " + optional);
    }

    private String version(String coordinates, String stated) {
        if (stated != null) {
            return stated;
        }
        String managed = this.managedVersions.get(coordinates);
        return (managed != null)
                ? managed
                : Build.managedVersion(coordinates, this.properties.get("spring-boot.version"));
    }

    private List<String> compilerArguments() {
        List<String> arguments = new ArrayList<>();
        for (Element plugin : this.root.plugins("build/pluginManagement/plugins", "maven-compiler-plugin")) {
            for (Element parameters : Pom.descendants(plugin, "configuration/parameters")) {
                if (this.root.text(parameters).equals("true")) {
                    arguments.add("-parameters");
                }
            }
            for (Element argument : Pom.descendants(plugin, "configuration/compilerArgs/arg")) {
                arguments.add(this.root.text(argument));
            }
        }
        return arguments;
    }

    private String springBootPlugin() {
        return this.root.plugins("build/pluginManagement/plugins", "spring-boot-maven-plugin").stream()
                .flatMap(plugin -> Pom.descendants(plugin, "version").stream())
                .map(this.root::text)
                .collect(Collectors.joining());
    }

    /** The properties named {@code *.version}, without that of Java, which Gradle calls a release. */
    private SortedMap<String, String> versions() {
        SortedMap<String, String> versions = new TreeMap<>();
        this.properties.forEach((name, value) -> {
            if (name.endsWith(VERSION_SUFFIX) && !name.equals("java.version") && !name.equals("project.version")) {
                versions.put(name.substring(0, name.length() - VERSION_SUFFIX.length()), value);
            }
        });
        return versions;
    }

    private static boolean published(Pom pom) {
        return pom.plugins("build/plugins", "maven-deploy-plugin").stream()
                .flatMap(plugin -> Pom.descendants(plugin, "configuration/skip").stream())
                .noneMatch(skip -> pom.text(skip).equals("true"));
    }

    private static SortedSet<String> attachments(Pom pom) {
        SortedSet<String> attachments = new TreeSet<>();
        for (Element id : pom.elements("build/plugins/plugin/executions/execution/id")) {
            if (pom.text(id).startsWith("attach-")) {
                attachments.add(pom.text(id).substring("attach-".length()));
            }
        }
        return attachments;
    }

    private Publication publication(SortedMap<String, SortedSet<String>> attachments) {
        return new Publication(
                attachments,
                this.root.text("description"),
                this.root.text("url"),
                this.root.text("licenses/license/name"),
                this.root.text("licenses/license/url"),
                this.root.text("developers/developer/name"),
                this.root.text("scm/connection"),
                this.root.text("scm/developerConnection"),
                this.root.text("scm/url"));
    }

    private Pom pom(String path) {
        return new Pom(path, this.files.text(path), this.properties);
    }

    private static Map<String, String> parts(Pom pom, Element element) {
        Map<String, String> parts = new TreeMap<>();
        Pom.children(element).forEach(part -> parts.put(part.getTagName(), pom.text(part)));
        return parts;
    }

    private static String coordinates(Pom pom, Map<String, String> parts) {
        String group = parts.remove("groupId");
        String artifact = parts.remove("artifactId");
        if (group == null || artifact == null) {
            throw new NotUnderstood(pom.path(), "a dependency without groupId or artifactId");
        }
        return group + ":" + artifact;
    }

    private static void refuseRest(Pom pom, String coordinates, Map<String, String> rest) {
        if (!rest.isEmpty()) {
            throw new NotUnderstood(pom.path(), coordinates + " with " + rest);
        }
    }
}
