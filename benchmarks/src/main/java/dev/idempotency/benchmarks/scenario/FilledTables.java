package dev.idempotency.benchmarks.scenario;

import java.util.List;
import java.util.function.Supplier;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Tables of processed messages with many rows in them, each of which can stand in for the application's for a while.
 * They are all there at once, so that they can take turns.
 */
final class FilledTables {

    private static final String TABLE = "idempotency_processed";

    /** In the order of the primary key, which is by far the fastest. */
    private static final String FILL = """
            insert into %s (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
            select ?, id, current_timestamp - interval '13 days', 'benchmark', 0, row_number() over ()
            from (select gen_random_uuid()::text as id from generate_series(1, ?)) as ids
            order by id
            """;

    private final JdbcTemplate jdbc;

    FilledTables(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Makes a table with that many rows, of messages of that consumer, that are nearly two weeks old. */
    void fill(int rows, String consumer) {
        this.jdbc.execute("create table %s (like %s including all)".formatted(parked(rows), TABLE));
        fill(this.jdbc, parked(rows), rows, consumer);
    }

    /** Fills the application's own table. */
    static void fillApplications(JdbcTemplate jdbc, int rows, String consumer) {
        fill(jdbc, TABLE, rows, consumer);
    }

    private static void fill(JdbcTemplate jdbc, String table, int rows, String consumer) {
        jdbc.update(FILL.formatted(table), consumer, rows);
        jdbc.execute("vacuum analyze " + table);
    }

    /** Measures with the table of that many rows in the place of the application's. */
    double with(int rows, Supplier<Double> measurement) {
        rename(TABLE, "idempotency_processed_aside");
        rename(parked(rows), TABLE);
        try {
            return measurement.get();
        } finally {
            rename(TABLE, parked(rows));
            rename("idempotency_processed_aside", TABLE);
        }
    }

    void drop(List<Integer> rows) {
        rows.forEach(each -> this.jdbc.execute("drop table " + parked(each)));
    }

    private void rename(String from, String to) {
        this.jdbc.execute("alter table %s rename to %s".formatted(from, to));
    }

    private static String parked(int rows) {
        return TABLE + "_" + rows;
    }
}
