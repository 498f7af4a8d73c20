package dev.idempotency.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;

/**
 * Migrates the library's own tables with a Flyway of its own: its own scripts, its own history. The application's
 * {@code Flyway} bean, versions and history are never touched, and there is no second bean that would switch it off.
 */
final class FlywayMigration {

    private final DataSource dataSource;
    private final Dialect dialect;
    private final Tables tables;
    private final MigrationHistory history;

    FlywayMigration(DataSource dataSource, Dialect dialect, Tables tables) {
        this.dataSource = dataSource;
        this.dialect = dialect;
        this.tables = tables;
        this.history = new MigrationHistory(dataSource, dialect, tables);
    }

    void run() {
        if (ClassUtils.isPresent(
                "com.zaxxer.hikari.HikariDataSource", getClass().getClassLoader())) {
            PoolOfOne.giveRoom(this.dataSource, this::runWith);
        } else {
            runWith(this.dataSource);
        }
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
                .locations("classpath:" + SchemaScript.location(this.dialect))
                .sqlMigrationPrefix(SchemaScript.PREFIX)
                .failOnMissingLocations(true)
                .table(MigrationHistory.TABLE)
                .placeholderReplacement(false)
                // Scripts of an earlier release may have read otherwise; what they made is the same.
                .validateOnMigrate(false)
                // The schema is the application's and full of its tables; that is no reason to hesitate.
                .baselineOnMigrate(true)
                .baselineVersion(Integer.toString(versionWithoutHistory()));
        if (this.tables.schema() != null) {
            configuration.schemas(this.tables.schema()).defaultSchema(this.tables.schema());
        }
        Flyway flyway = configuration.load();
        if (this.history.isBroken()) {
            flyway.repair();
        }
        flyway.migrate();
    }

    /** The last script that somebody has run by hand, with all before it; 0 if none. */
    private int versionWithoutHistory() {
        JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
        int version = 0;
        for (SchemaScript script : SchemaScript.ALL) {
            if (!succeeds(jdbc, script.probe(this.tables, this.dialect))
                    || !succeeds(jdbc, script.lastProbe(this.tables, this.dialect))) {
                break;
            }
            version = script.version();
        }
        return version;
    }

    private static boolean succeeds(JdbcTemplate jdbc, String query) {
        try {
            SchemaScript.tryOut(query, jdbc);
            return true;
        } catch (BadSqlGrammarException ex) {
            SchemaDeniedException.throwIfDenied(ex);
            return false;
        }
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
