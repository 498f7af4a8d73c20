package dev.idempotency.database;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Where the library's tables are for the connections of a data source, as far as these tell.
 *
 * @param server the address, and the database where that is more than a schema
 * @param schema the schema's name
 */
public record TableLocation(String server, @Nullable String schema) {

    /** Where a data source finds the tables of the database, which are in the schema that is set, or else in its own. */
    public static TableLocation in(DataSource dataSource, IdempotencyDatabase database) {
        ConnectionCallback<TableLocation> look = connection -> of(connection, database.schema());
        return new JdbcTemplate(dataSource).execute(look);
    }

    private static TableLocation of(Connection connection, @Nullable String schema) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        String url = metaData.getURL().replaceFirst("[?;].*", "");
        if (metaData.supportsSchemasInTableDefinitions()) {
            return new TableLocation(url, (schema != null) ? schema : connection.getSchema());
        }
        return new TableLocation(
                url.substring(0, url.lastIndexOf('/') + 1), (schema != null) ? schema : connection.getCatalog());
    }

    @Override
    public String toString() {
        return (this.schema != null) ? this.server + " schema " + this.schema : this.server;
    }
}
