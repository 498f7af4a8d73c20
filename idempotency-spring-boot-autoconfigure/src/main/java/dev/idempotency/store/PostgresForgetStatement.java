package dev.idempotency.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;

/** PostgreSQL: finds, locks and deletes in one statement. */
final class PostgresForgetStatement implements ForgetStatement {

    // The rows' places are found through the index and locked; going there is all that remains to be done. What is
    // asked once more of the rows found there matters if somebody has partitioned the table, where a place is unique
    // in one partition only. The concatenation keeps the planner from going through the index again, as it would for a
    // consumer that its statistics do not know, and from comparing every row with every place.
    private static final String FORGET = """
            with cutoff as materialized (
                select %2$s as instant
            ), forgotten as (
                delete from %1$s
                where ctid = any (array(
                    select ctid
                    from %1$s
                    where consumer_id = ? and processed_at >= ? and processed_at < (select instant from cutoff)
                    order by processed_at
                    limit ?
                    for update skip locked
                ))
                and consumer_id || '' = ? and processed_at < (select instant from cutoff)
                returning processed_at
            )
            select count(*), max(processed_at) from forgotten
            """;

    private final String sql;

    /** {@code cutoff} is an expression with two parameters: the consumer, and the age in seconds. */
    PostgresForgetStatement(String table, String cutoff) {
        this.sql = FORGET.formatted(table, cutoff);
    }

    String sql() {
        return this.sql;
    }

    @Override
    public Forgotten execute(Connection connection, ForgetRequest request, int timeoutSeconds) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.sql)) {
            statement.setQueryTimeout(timeoutSeconds);
            bind(statement, request);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Timestamp upTo = row.getTimestamp(2);
                return new Forgotten(row.getInt(1), (upTo != null) ? upTo.toInstant() : request.from());
            }
        }
    }

    static void bind(PreparedStatement statement, ForgetRequest request) throws SQLException {
        statement.setString(1, request.consumer());
        statement.setLong(2, request.age().toSeconds());
        statement.setString(3, request.consumer());
        statement.setTimestamp(4, Timestamp.from(request.from()));
        statement.setInt(5, request.limit());
        statement.setString(6, request.consumer());
    }
}
