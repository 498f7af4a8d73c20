package dev.idempotency.database;

import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.springframework.jdbc.core.JdbcTemplate;

/** PostgreSQL: finds, locks and deletes in one statement. */
final class PostgresPurgeStatement implements PurgeStatement {

    // The rows' places are found through the index and locked; going there is all that remains to be done. What is
    // asked once more of the rows found there matters if somebody has partitioned the table, where a place is unique
    // in one partition only. The concatenation keeps the planner from going through the index again, as it would for a
    // consumer that its statistics do not know, and from comparing every row with every place.
    private static final String PURGE = """
            with recursive %2$s, forgotten as (
                delete from %1$s
                where ctid = any (array(
                    select ctid
                    from %1$s
                    where consumer_id = ? and processed_at >= to_timestamp(?)
                        and processed_at < (select instant from cutoff)
                    order by processed_at
                    limit ?
                    for update skip locked
                ))
                and consumer_id || '' = ? and processed_at < (select instant from cutoff)
                returning processed_at
            )
            select count(*), extract(epoch from max(processed_at)) from forgotten
            """;

    /**
     * For this transaction alone. The planner does not know how many rows stand before the cutoff, takes them for few, and
     * would gather and sort all of them, where the index has the oldest ones in order.
     */
    static final String IN_ORDER_OF_THE_INDEX = "set local enable_bitmapscan = off";

    private final String sql;

    /**
     * {@code cutoff} is the query with that name for an instant. It has three parameters: the consumer, the age in seconds
     * and where to begin.
     */
    PostgresPurgeStatement(String table, String cutoff) {
        this.sql = PURGE.formatted(table, cutoff);
    }

    String sql() {
        return this.sql;
    }

    @Override
    public Purged execute(JdbcTemplate jdbc, Request request) {
        jdbc.execute(IN_ORDER_OF_THE_INDEX);
        return jdbc.query(this.sql, statement -> bind(statement, request), row -> {
            row.next();
            BigDecimal upTo = row.getBigDecimal(2);
            return new Purged(row.getInt(1), (upTo != null) ? EpochSeconds.toInstant(upTo) : request.from());
        });
    }

    static void bind(PreparedStatement statement, Request request) throws SQLException {
        statement.setString(1, request.consumer());
        statement.setLong(2, request.age().toSeconds());
        statement.setBigDecimal(3, EpochSeconds.toDecimal(request.from()));
        statement.setString(4, request.consumer());
        statement.setBigDecimal(5, EpochSeconds.toDecimal(request.from()));
        statement.setInt(6, request.limit());
        statement.setString(7, request.consumer());
    }
}
