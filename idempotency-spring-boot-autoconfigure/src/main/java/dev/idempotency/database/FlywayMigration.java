package dev.idempotency.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.dao.DataAccessException;
import org.springframework.util.ClassUtils;

/**
 * Migrates the library's own tables with a Flyway of its own: its own scripts, its own history. The application's
 * {@code Flyway} bean, versions and history are never touched, and there is no second bean that would switch it off.
 */
final class FlywayMigration {

    private final IdempotencyDatabase database;
    private final MigrationHistory history;

    FlywayMigration(IdempotencyDatabase database) {
        this.database = database;
        this.history = new MigrationHistory(database);
    }

    void run() {
        try {
            if (ClassUtils.isPresent(
                    "com.zaxxer.hikari.HikariDataSource", getClass().getClassLoader())) {
                PoolOfOne.giveRoom(this.database.dataSource(), this::runWith);
            } else {
                runWith(this.database.dataSource());
            }
        } catch (DataAccessException ex) {
            String denial = WriteProbe.denial(ex);
            throw (denial != null) ? denied(denial, ex) : ex;
        }
    }

    /** The user who is to migrate may not even look at the tables, so that nobody knows what there is to migrate. */
    private static IllegalStateException denied(String denial, DataAccessException failure) {
        return new IllegalStateException(
                ("The tables of idempotency-spring-boot cannot be migrated by this user of the database: %s. Let a user"
                                + " migrate who owns them (spring.flyway.user and spring.flyway.password), grant this"
                                + " one what it lacks, or set idempotency.schema.mode to 'validate'.")
                        .formatted(denial),
                failure);
    }

    private void runWith(DataSource connections) {
        boolean first = !this.history.exists();
        try {
            migrate(connections);
        } catch (FlywayException ex) {
            if (!first || !this.history.exists()) {
                throw ex;
            }
            // Another instance has begun the history while this one was about to.
            migrate(connections);
        }
    }

    private void migrate(DataSource connections) {
        FluentConfiguration configuration = Flyway.configure(FlywayMigration.class.getClassLoader())
                .dataSource(connections)
                .resourceProvider(new MigrationScripts(this.database.dialect()))
                .javaMigrationClassProvider(List::of)
                .sqlMigrationPrefix(SchemaScript.PREFIX)
                .table(MigrationHistory.TABLE)
                .placeholderReplacement(false)
                // Scripts of an earlier release may have read otherwise; what they made is the same.
                .validateOnMigrate(false)
                // The schema is the application's and full of its tables; that is no reason to hesitate.
                .baselineOnMigrate(true)
                .baselineVersion(Integer.toString(versionWithoutHistory()));
        String schema = this.database.schema();
        if (schema != null) {
            configuration.schemas(schema).defaultSchema(schema);
        }
        Flyway flyway = configuration.load();
        if (this.history.isBroken()) {
            flyway.repair();
        }
        flyway.migrate();
    }

    /** The last script that somebody has run by hand, with all before it; 0 if none. */
    private int versionWithoutHistory() {
        return SchemaScript.ALL.stream()
                .takeWhile(script -> script.isComplete(this.database, this.database.jdbc()))
                .mapToInt(SchemaScript::version)
                .max()
                .orElse(0);
    }

    /** Flyway needs two connections at a time, so that a pool of one has a roomier twin while it migrates. */
    private static final class PoolOfOne {

        static void giveRoom(DataSource dataSource, Consumer<DataSource> work) {
            HikariDataSource pool =
                    DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
            if (pool == null || pool.getMaximumPoolSize() > 1) {
                work.accept(dataSource);
                return;
            }
            HikariConfig settings = new HikariConfig();
            pool.copyStateTo(settings);
            settings.setPoolName("idempotency-migration");
            settings.setRegisterMbeans(false);
            settings.setMaximumPoolSize(2);
            settings.setMinimumIdle(0);
            try (HikariDataSource twin = new HikariDataSource(settings)) {
                work.accept(twin);
            }
        }
    }
}
