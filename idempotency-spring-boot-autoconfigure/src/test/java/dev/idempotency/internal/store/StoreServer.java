package dev.idempotency.internal.store;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.testing.TestMariaDb;
import dev.idempotency.testing.TestPostgres;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** The databases on which stores are tested. Sessions of MariaDB and H2 use another time zone than the JVM. */
public enum StoreServer {
    POSTGRES,
    MARIADB,
    H2;

    private @Nullable HikariDataSource dataSource;

    /** A database with the tables, which all tests share. */
    public synchronized HikariDataSource dataSource() {
        if (this.dataSource == null) {
            HikariDataSource created = new HikariDataSource();
            created.setJdbcUrl(emptyDatabase());
            created.setMaximumPoolSize(20);
            tablesIn(created);
            this.dataSource = created;
        }
        return this.dataSource;
    }

    /** The URL of an empty database. H2 takes the lock timeout from its URL and ignores statement timeouts for it. */
    public String emptyDatabase() {
        return switch (this) {
            case POSTGRES -> TestPostgres.createDatabase().jdbcUrl();
            case MARIADB ->
                TestMariaDb.createDatabase()
                                .orElseThrow(() ->
                                        new TestAbortedException("There is no embedded MariaDB for this platform"))
                        + "&sessionVariables=time_zone='-09:30'";
            case H2 ->
                "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=3000;TIME ZONE=-09:30".formatted(UUID.randomUUID());
        };
    }

    /** The shared database with its dialect. */
    public IdempotencyDatabase database() {
        return databaseOf(dataSource());
    }

    public static IdempotencyDatabase databaseOf(DataSource dataSource) {
        return new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), null);
    }

    /** Creates the tables. */
    public static IdempotencyDatabase tablesIn(DataSource dataSource) {
        IdempotencyDatabase database = databaseOf(dataSource);
        new Schema(database, SchemaMode.MIGRATE).afterPropertiesSet();
        return database;
    }
}
