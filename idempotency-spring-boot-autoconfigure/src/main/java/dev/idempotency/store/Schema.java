package dev.idempotency.store;

import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;

/** Sees to it at start-up that the tables are there, in the way that {@code idempotency.schema.mode} says. */
public final class Schema implements InitializingBean {

    private final DataSource dataSource;
    private final Dialect dialect;
    private final Tables tables;
    private final SchemaMode mode;

    public Schema(DataSource dataSource, Dialect dialect, Tables tables, SchemaMode mode) {
        this.dataSource = dataSource;
        this.dialect = dialect;
        this.tables = tables;
        this.mode = mode;
    }

    @Override
    public void afterPropertiesSet() {
        switch (this.mode) {
            case MIGRATE -> migrate();
            case VALIDATE -> validate();
            case NONE -> {}
        }
    }

    private void migrate() {
        if (!ClassUtils.isPresent("org.flywaydb.core.Flyway", getClass().getClassLoader())) {
            throw new IllegalStateException("idempotency.schema.mode is 'migrate', but Flyway is not on the class path."
                    + " Add org.flywaydb:flyway-core, or create the tables yourself and set the mode to 'validate'.");
        }
        if (!new MigrationHistory(this.dataSource, this.dialect, this.tables).isComplete()) {
            FlywayMigration.run(this.dataSource, this.dialect, this.tables);
        }
    }

    private void validate() {
        List<SchemaScript> missing = missingScripts();
        if (!missing.isEmpty()) {
            String sql = missing.stream()
                    .map(script -> "-- " + script.file() + "\n" + script.sql(this.dialect))
                    .collect(Collectors.joining("\n\n"));
            String where = (this.tables.schema() != null) ? " in schema " + this.tables.schema() : "";
            throw new IllegalStateException(
                    "The tables of idempotency-spring-boot are missing or out of date%s. Set idempotency.schema.mode to 'migrate', or run this SQL:%n%n%s%n"
                            .formatted(where, sql));
        }
    }

    /** Names of the scripts that the database lacks; none when it is at the expected version. */
    public List<String> missing() {
        return missingScripts().stream().map(SchemaScript::file).toList();
    }

    /** The scripts that have not been run on the database; none when all is well. */
    private List<SchemaScript> missingScripts() {
        JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
        return SchemaScript.ALL.stream()
                .filter(script -> !succeeds(jdbc, script.probe(this.tables, this.dialect)))
                .toList();
    }

    private static boolean succeeds(JdbcTemplate jdbc, String query) {
        try {
            jdbc.query(query, row -> {});
            return true;
        } catch (BadSqlGrammarException ex) {
            return false;
        }
    }
}
