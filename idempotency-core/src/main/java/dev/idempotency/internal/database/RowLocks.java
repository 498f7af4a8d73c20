package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Locks the rows of the keys' stripes, in the order of the table's primary key. */
record RowLocks(String table) implements LockStatement {

    private static final String LOCK = "select stripe from %s where stripe in (%s) order by stripe for update";

    @Override
    public void execute(Connection connection, List<Long> keys, int timeoutSeconds) throws SQLException {
        Set<Integer> stripes = LockStatement.stripesOf(keys);
        String list = stripes.stream().map(String::valueOf).collect(Collectors.joining(", "));
        int locked = 0;
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(timeoutSeconds);
            try (ResultSet rows = statement.executeQuery(LOCK.formatted(this.table, list))) {
                while (rows.next()) {
                    locked++;
                }
            }
        }
        if (locked < stripes.size()) {
            throw new SQLException(
                    "The table %s lacks rows, and so nothing was locked: it must have one for each number below"
                                    .formatted(this.table)
                            + " " + STRIPES + ". Run the script of the tables again");
        }
    }
}
