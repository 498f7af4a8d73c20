package dev.idempotency.store;

import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/**
 * Migrates the library's own tables with a Flyway of its own: its own scripts, its own history. The application's
 * {@code Flyway} bean, versions and history are never touched, and there is no second bean that would switch it off.
 */
final class FlywayMigration {

    private FlywayMigration() {}

    static void run(DataSource dataSource, Dialect dialect, Tables tables) {
        FluentConfiguration configuration = Flyway.configure(FlywayMigration.class.getClassLoader())
                .dataSource(dataSource)
                .locations("classpath:" + SchemaScript.location(dialect))
                .failOnMissingLocations(true)
                .table(MigrationHistory.TABLE)
                .placeholderReplacement(false)
                // The schema is the application's and full of its tables; that is no reason to hesitate.
                .baselineOnMigrate(true)
                .baselineVersion("0");
        if (tables.schema() != null) {
            configuration.schemas(tables.schema()).defaultSchema(tables.schema());
        }
        configuration.load().migrate();
    }
}
