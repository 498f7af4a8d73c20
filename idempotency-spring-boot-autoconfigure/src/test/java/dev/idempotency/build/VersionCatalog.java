package dev.idempotency.build;

import java.util.HashSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code gradle/libs.versions.toml}, of which the part in use is understood and everything else refused. */
final class VersionCatalog {

    private static final Pattern VERSION =
            Pattern.compile("([\\w-]+) = (?:\"([^\"]+)\"|\\{ strictly = \"([^\"]+)\" })");
    private static final Pattern LIBRARY =
            Pattern.compile("([\\w-]+) = \\{ module = \"([^\"]+)\"(?:, version\\.ref = \"([^\"]+)\")? }");
    private static final Pattern PLUGIN =
            Pattern.compile("([\\w-]+) = \\{ id = \"([^\"]+)\", version\\.ref = \"([^\"]+)\" }");

    private final SortedMap<String, String> versions = new TreeMap<>();
    private final Set<String> strictVersions = new HashSet<>();
    private final SortedMap<String, Library> libraries = new TreeMap<>();
    private final SortedMap<String, String> pluginVersions = new TreeMap<>();

    VersionCatalog(String toml) {
        String table = "";
        for (String line : toml.lines().map(String::strip).toList()) {
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith("[")) {
                table = line;
                continue;
            }
            switch (table) {
                case "[versions]" -> addVersion(line);
                case "[libraries]" -> addLibrary(line);
                case "[plugins]" -> addPlugin(line);
                default -> throw new NotUnderstood("gradle/libs.versions.toml " + table, line);
            }
        }
    }

    private void addVersion(String line) {
        Matcher version = match(VERSION, line);
        boolean strict = version.group(3) != null;
        this.versions.put(version.group(1), version.group(strict ? 3 : 2));
        if (strict) {
            this.strictVersions.add(version.group(1));
        }
    }

    private void addLibrary(String line) {
        Matcher library = match(LIBRARY, line);
        String reference = library.group(3);
        String stated = (reference != null) ? version(reference) : null;
        boolean strict = this.strictVersions.contains(reference);
        this.libraries.put(accessor(library.group(1)), new Library(library.group(2), stated, strict));
    }

    private void addPlugin(String line) {
        Matcher plugin = match(PLUGIN, line);
        this.pluginVersions.put(plugin.group(2), version(plugin.group(3)));
    }

    private static Matcher match(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        if (!matcher.matches()) {
            throw new NotUnderstood("gradle/libs.versions.toml", line);
        }
        return matcher;
    }

    private static String accessor(String alias) {
        return "libs." + alias.replace('-', '.').replace('_', '.');
    }

    SortedMap<String, String> versions() {
        return new TreeMap<>(this.versions);
    }

    String version(String name) {
        String version = this.versions.get(name);
        if (version == null) {
            throw new NotUnderstood("gradle/libs.versions.toml", "version.ref = \"" + name + "\"");
        }
        return version;
    }

    /** The library that a script calls {@code libs.some.name}. */
    Library library(String accessor) {
        Library library = this.libraries.get(accessor);
        if (library == null) {
            throw new NotUnderstood("gradle/libs.versions.toml has no library for", accessor);
        }
        return library;
    }

    String pluginVersion(String id) {
        String version = this.pluginVersions.get(id);
        if (version == null) {
            throw new NotUnderstood("gradle/libs.versions.toml has no plugin for", id);
        }
        return version;
    }

    /** A library and, unless a BOM manages it, its version. */
    record Library(String coordinates, String statedVersion, boolean strict) {

        /** The version that Gradle takes: the higher of two, unless the catalogue is strict about its own. */
        String version(String springBootVersion) {
            return (this.statedVersion != null && (this.strict || !Build.isLifted(this.coordinates)))
                    ? this.statedVersion
                    : Build.managedVersion(this.coordinates, springBootVersion);
        }
    }
}
