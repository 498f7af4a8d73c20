package dev.idempotency.database;

import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Where connections of a data source begin.
 *
 * @param product the kind of database
 * @param database its name, or {@code null} where databases are schemas
 * @param schema the schema's name
 * @param user who is connected
 */
record DatabaseLocation(
        String product,
        @Nullable String database,
        @Nullable String schema,
        @Nullable String user) {

    static DatabaseLocation of(DataSource dataSource) {
        return Objects.requireNonNull(
                new JdbcTemplate(dataSource).execute((ConnectionCallback<DatabaseLocation>) connection -> {
                    DatabaseMetaData database = connection.getMetaData();
                    return database.supportsSchemasInTableDefinitions()
                            ? in(database, connection.getCatalog(), connection.getSchema())
                            : in(database, null, connection.getCatalog());
                }));
    }

    private static DatabaseLocation in(DatabaseMetaData metaData, @Nullable String database, @Nullable String schema)
            throws SQLException {
        return new DatabaseLocation(metaData.getDatabaseProductName(), database, schema, metaData.getUserName());
    }

    /** Whether both may be in the same database, as far as its name tells. */
    boolean isInDatabaseOf(DatabaseLocation other) {
        return this.product.equals(other.product) && Objects.equals(this.database, other.database);
    }
}
