package dev.idempotency.internal.database;

import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/**
 * Migrates the library's tables with a separate Flyway instance, which has its own scripts and history. The application's
 * {@code Flyway} bean, versions and history are never touched, and there is no second bean that would switch it off.
 */
final class FlywayMigration {

    private FlywayMigration() {}

    /** Runs the scripts of a folder in the class path, and records them in the table {@code history}. */
    static void run(IdempotencyDatabase database, String location, String history) {
        FluentConfiguration configuration = Flyway.configure(FlywayMigration.class.getClassLoader())
                .dataSource(database.dataSource())
                .locations("classpath:" + location)
                // A prefix that the application's Flyway does not recognize as a migration.
                .sqlMigrationPrefix("idempotency_V")
                .table(history)
                .placeholderReplacement(false)
                // The schema is the application's and full of its tables; that is no reason to hesitate.
                .baselineOnMigrate(true)
                .baselineVersion("0");
        String schema = database.schema();
        if (schema != null) {
            configuration.schemas(schema).defaultSchema(schema);
        }
        migrate(configuration.load());
    }

    private static void migrate(Flyway flyway) {
        try {
            flyway.migrate();
        } catch (FlywayException ex) {
            if (WriteProbe.denial(ex) != null) {
                throw ex;
            }
            // The script stopped half-way, or another instance has begun the history while this one was about to.
            flyway.repair();
            flyway.migrate();
        }
    }
}
