package dev.idempotency.internal.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Locks business keys until the end of the current transaction. */
@FunctionalInterface
public interface LockStatement {

    /** Where keys cannot be locked themselves, or are too many, so many groups of them are. */
    int STRIPES = 1024;

    /**
     * Waits for other transactions that hold one of the keys, in an order that is the same for everyone.
     *
     * @param connection the connection of the current transaction
     * @param keys hashes of the keys, distinct and sorted; at least one
     * @param timeoutSeconds how long it may take, at least 1
     */
    void execute(Connection connection, List<Long> keys, int timeoutSeconds) throws SQLException;

    /** The groups of keys. */
    static SortedSet<Integer> stripesOf(Collection<Long> keys) {
        return keys.stream().map(key -> (int) (key & (STRIPES - 1))).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Locks the rows of the keys' stripes, in the order of the table's primary key. */
    static LockStatement ofRows(String table) {
        return (connection, keys, timeoutSeconds) -> {
            SortedSet<Integer> stripes = stripesOf(keys);
            String list = stripes.stream().map(String::valueOf).collect(Collectors.joining(", "));
            int locked = 0;
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(timeoutSeconds);
                try (ResultSet rows =
                        statement.executeQuery("select stripe from %s where stripe in (%s) order by stripe for update"
                                .formatted(table, list))) {
                    while (rows.next()) {
                        locked++;
                    }
                }
            }
            if (locked < stripes.size()) {
                throw new SQLException(
                        "The table %s lacks rows, and so nothing was locked. Run the script of the tables again"
                                .formatted(table));
            }
        };
    }
}
