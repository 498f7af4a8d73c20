package dev.idempotency.database;

import java.io.Reader;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Collection;
import org.flywaydb.core.api.ResourceProvider;
import org.flywaydb.core.api.resource.LoadableResource;
import org.jspecify.annotations.Nullable;

/** Gives Flyway the scripts by their names, without a search of the class path: a native image has none to search. */
final class MigrationScripts implements ResourceProvider {

    private final Dialect dialect;

    MigrationScripts(Dialect dialect) {
        this.dialect = dialect;
    }

    /** None: this is how Flyway looks for the settings of a script. */
    @Override
    public @Nullable LoadableResource getResource(String name) {
        return null;
    }

    @Override
    public Collection<LoadableResource> getResources(String prefix, String[] suffixes) {
        return SchemaScript.ALL.stream()
                .filter(script -> script.file().startsWith(prefix)
                        && Arrays.stream(suffixes).anyMatch(script.file()::endsWith))
                .<LoadableResource>map(script -> new Script(script, this.dialect))
                .toList();
    }

    /** A script as Flyway reads it. */
    private static final class Script extends LoadableResource {

        private final SchemaScript script;
        private final Dialect dialect;

        Script(SchemaScript script, Dialect dialect) {
            this.script = script;
            this.dialect = dialect;
        }

        @Override
        public Reader read() {
            return new StringReader(this.script.sql(this.dialect));
        }

        @Override
        public String getAbsolutePath() {
            return SchemaScript.location(this.dialect) + "/" + this.script.file();
        }

        @Override
        public String getAbsolutePathOnDisk() {
            return getAbsolutePath();
        }

        @Override
        public String getFilename() {
            return this.script.file();
        }

        @Override
        public String getRelativePath() {
            return this.script.file();
        }
    }
}
