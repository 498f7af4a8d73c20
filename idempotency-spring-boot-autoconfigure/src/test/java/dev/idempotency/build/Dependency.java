package dev.idempotency.build;

import java.util.Comparator;

/**
 * One dependency of a module.
 *
 * @param coordinates group and artifact, separated by a colon
 * @param version the version, or {@link #MANAGED} where a BOM decides
 */
record Dependency(String coordinates, Scope scope, String version) implements Comparable<Dependency> {

    static final String MANAGED = "managed";

    private static final Comparator<Dependency> ORDER = Comparator.comparing(Dependency::coordinates)
            .thenComparing(Dependency::scope)
            .thenComparing(Dependency::version);

    @Override
    public int compareTo(Dependency other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return this.scope + " " + this.coordinates + " (" + this.version + ")";
    }
}
