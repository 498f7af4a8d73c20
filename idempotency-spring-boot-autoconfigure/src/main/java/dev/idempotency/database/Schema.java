package dev.idempotency.database;

import java.sql.DatabaseMetaData;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;

/** Sees to it at start-up that the tables are there, in the way that {@code idempotency.schema.mode} says. */
public final class Schema implements InitializingBean {

    private static final Logger logger = LoggerFactory.getLogger(Schema.class);

    private final IdempotencyDatabase database;
    private final SchemaMode mode;
    private final WriteProbe probe;
    private final Set<TableUse> uses = ConcurrentHashMap.newKeySet();
    private final Supplier<@Nullable DataSource> flywayDataSource;

    public Schema(IdempotencyDatabase database, SchemaMode mode) {
        this(database, mode, () -> null);
    }

    /** With what the application's Flyway connects to, perhaps as another user, if it has one. */
    public Schema(IdempotencyDatabase database, SchemaMode mode, Supplier<@Nullable DataSource> flywayDataSource) {
        this.database = database;
        this.mode = mode;
        this.probe = new WriteProbe(database);
        this.flywayDataSource = flywayDataSource;
    }

    @Override
    public void afterPropertiesSet() {
        switch (this.mode) {
            case MIGRATE -> migrate();
            case VALIDATE -> validate();
            case NONE -> {
                return;
            }
        }
        refuseInexactIds();
    }

    /** Tables may have been made by hand, or with settings of the database that the application's own scripts have changed. */
    private void refuseInexactIds() {
        try {
            this.probe.requireExactIds();
        } catch (DataAccessException ex) {
            logger.debug("How the table of processed messages compares ids could not be tried", ex);
        }
    }

    private void migrate() {
        if (!ClassUtils.isPresent("org.flywaydb.core.Flyway", getClass().getClassLoader())) {
            throw new IllegalStateException("idempotency.schema.mode is 'migrate', but Flyway is not on the class path."
                    + " Add org.flywaydb:flyway-core, or create the tables yourself and set the mode to 'validate'.");
        }
        if (new MigrationHistory(this.database).isComplete()) {
            return;
        }
        DataSource flyways = this.flywayDataSource.get();
        if (flyways == null
                || IdempotencyDatabase.unwrap(flyways) == this.database.dataSource()
                || !migrateAsOther(flyways)) {
            new FlywayMigration(this.database).run();
        }
    }

    /** Whether the application's Flyway is one of the same database, so that its user could migrate. */
    private boolean migrateAsOther(DataSource other) {
        Location here = Location.of(this.database.dataSource());
        Location there = Location.of(other);
        if (!there.isInDatabaseOf(here)) {
            return false;
        }
        // Made where the application's own connections look for them.
        boolean elsewhere = this.database.schema() == null && !Objects.equals(here.schema(), there.schema());
        String schema = elsewhere ? here.schema() : this.database.schema();
        new FlywayMigration(new IdempotencyDatabase(other, this.database.dialect(), schema)).run();
        try {
            validate();
        } catch (RuntimeException ex) {
            throw new IllegalStateException(
                    ("The tables of idempotency-spring-boot have been migrated by the user of the application's Flyway, '%s',"
                                    + " but user '%s' of the application's DataSource does not find them or may not read them."
                                    + " Grant it select, insert, update and delete on them; and see that both connect to the same"
                                    + " database (spring.flyway.url, spring.datasource.url).")
                            .formatted(there.user(), here.user()),
                    ex);
        }
        return true;
    }

    private void validate() {
        List<SchemaScript> missing = missingScripts();
        if (!missing.isEmpty()) {
            String sql = missing.stream()
                    .map(script -> "-- " + script.file() + "\n" + script.sql(this.database.dialect()))
                    .collect(Collectors.joining("\n\n"));
            String where = (this.database.schema() != null) ? " in schema " + this.database.schema() : "";
            throw new IllegalStateException(
                    "The tables of idempotency-spring-boot are missing or out of date%s. Set idempotency.schema.mode to 'migrate', or run this SQL:%n%n%s%n"
                            .formatted(where, sql));
        }
        refuseWhatIsDenied();
    }

    /** Says what the tables are used for by this application, which its database's user must be allowed to do. */
    public void use(TableUse use) {
        if (this.uses.add(use) && this.mode == SchemaMode.VALIDATE) {
            refuseWhatIsDenied();
        }
    }

    /** Says what the tables are used for already, whatever its database's user is allowed to do. */
    public void note(TableUse use) {
        this.uses.add(use);
    }

    /** Does what consumers, and whoever else uses the tables, do with them; fails as they would. */
    public void tryOut() {
        this.probe.tryAll(this.uses);
    }

    /** Only what does not pass by itself: a server that is read-only today is no reason not to start. */
    private void refuseWhatIsDenied() {
        try {
            tryOut();
        } catch (DataAccessException ex) {
            if (WriteProbe.denial(ex) != null || ex instanceof BadSqlGrammarException) {
                throw denied(ex);
            }
            logger.warn("What the library does with its tables could not be tried; consumers wait until it can", ex);
        }
    }

    private IllegalStateException denied(DataAccessException failure) {
        String denial = WriteProbe.denial(failure);
        String tables = Stream.concat(
                        Stream.of(IdempotencyDatabase.PROCESSED),
                        this.uses.stream().sorted().flatMap(use -> use.tables().stream()))
                .map(this.database::table)
                .collect(Collectors.joining(" and on "));
        return new IllegalStateException(
                ("The user of the DataSource may not do with the tables of idempotency-spring-boot what it has to: %s. Grant"
                                + " select, insert%s%s on %s.")
                        .formatted(
                                (denial != null) ? denial : failure.getMessage(),
                                this.uses.isEmpty() ? "" : ", update",
                                isDeletedFrom() ? ", delete" : "",
                                tables),
                failure);
    }

    private boolean isDeletedFrom() {
        return this.uses.contains(TableUse.CLEANUP) || this.probe.areWitnessesNeeded();
    }

    /** Names of the scripts that the database lacks; none when it is at the expected version. */
    public List<String> missing() {
        return missingScripts().stream().map(SchemaScript::file).toList();
    }

    /** A table that is not used here may be one that the user has no right to: then it is there. */
    private boolean isThere(SchemaScript script, JdbcTemplate jdbc) {
        boolean unused = Stream.of(TableUse.POSITIONS, TableUse.VERSIONS)
                .anyMatch(use -> use.tables().contains(script.table()) && !this.uses.contains(use));
        return unused
                ? WriteProbe.findIfAccessible(() -> script.hasRun(this.database, jdbc), true)
                : script.hasRun(this.database, jdbc);
    }

    /** The scripts that have not been run on the database; none when all is well. */
    private List<SchemaScript> missingScripts() {
        JdbcTemplate jdbc = this.database.jdbc(WriteProbe.TIMEOUT_SECONDS);
        try {
            return SchemaScript.ALL.stream()
                    .filter(script -> !isThere(script, jdbc))
                    .toList();
        } catch (DataAccessException ex) {
            throw (WriteProbe.denial(ex) != null) ? denied(ex) : ex;
        }
    }

    /**
     * Where connections of a data source begin.
     *
     * @param product the kind of database
     * @param database its name, or {@code null} where databases are schemas
     * @param schema the schema's name
     * @param user who is connected
     */
    private record Location(
            String product,
            @Nullable String database,
            @Nullable String schema,
            @Nullable String user) {

        static Location of(DataSource dataSource) {
            ConnectionCallback<Location> look = connection -> {
                DatabaseMetaData metaData = connection.getMetaData();
                boolean schemas = metaData.supportsSchemasInTableDefinitions();
                return new Location(
                        metaData.getDatabaseProductName(),
                        schemas ? connection.getCatalog() : null,
                        schemas ? connection.getSchema() : connection.getCatalog(),
                        metaData.getUserName());
            };
            return new JdbcTemplate(dataSource).execute(look);
        }

        /** Whether both may be in the same database, as far as its name tells. */
        boolean isInDatabaseOf(Location other) {
            return this.product.equals(other.product) && Objects.equals(this.database, other.database);
        }
    }
}
