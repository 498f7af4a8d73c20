package dev.idempotency.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A database for one test class, dropped when closed. */
public final class TestDatabase implements AutoCloseable {

    /** Waits for sessions that are being opened: they lock the database, and would not be terminated. */
    private static final String AWAIT_THOSE_BEING_LET_IN = """
            do $$ begin
                while exists (
                    select 1 from pg_locks join pg_database on objid = pg_database.oid
                    where locktype = 'object' and classid = 'pg_database'::regclass and datname = '%s')
                loop
                    perform pg_sleep(0.001);
                end loop;
            end $$
            """;

    private final String serverUrl;
    private final String jdbcUrl;
    private final String name;

    TestDatabase(String serverUrl, String jdbcUrl, String name) {
        this.serverUrl = serverUrl;
        this.jdbcUrl = jdbcUrl;
        this.name = name;
    }

    /** Returns the JDBC URL, including user and password. */
    public String jdbcUrl() {
        return this.jdbcUrl;
    }

    /** Cuts every connection to this database, like a network failure or an administrator. */
    public void cutConnections() {
        onServer("select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + this.name + "'");
    }

    /** Refuses new connections until {@link #comeBack()}, and cuts the current ones. */
    public void goAway() {
        onServer("alter database " + this.name + " with allow_connections false");
        onServer(AWAIT_THOSE_BEING_LET_IN.formatted(this.name));
        cutConnections();
    }

    /** Accepts connections again after {@link #goAway()}. */
    public void comeBack() {
        onServer("alter database " + this.name + " with allow_connections true");
    }

    @Override
    public void close() {
        onServer("drop database if exists " + this.name + " with (force)");
    }

    private void onServer(String sql) {
        try (Connection connection = TestPostgres.connect(this.serverUrl);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException ex) {
            throw new IllegalStateException("Could not execute \"" + sql + "\"", ex);
        }
    }
}
