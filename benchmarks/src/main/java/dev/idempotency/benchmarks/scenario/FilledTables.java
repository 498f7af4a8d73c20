package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.measured.MeasuredListener;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Tables with many rows of processed messages or positions, each of which can temporarily replace the application's. All
 * exist at the same time, so that they can take turns.
 */
final class FilledTables {

    /** Inserts in the order of the primary key, which is by far the fastest. */
    private static final String FILL_CLAIMS = """
            insert into %s (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
            select ?, id, current_timestamp - interval '13 days', 'benchmark', 0, row_number() over ()
            from (select gen_random_uuid()::text as id from generate_series(1, ?)) as ids
            order by id
            """;

    /** Inserts positions of other topics, with a thousand partitions each. */
    private static final String FILL_POSITIONS = """
            insert into %s (consumer_id, record_topic, record_partition, topic_id, next_offset, previous_offset)
            select ?, 'benchmark-' || lpad((number / 1000)::text, 6, '0'), number %% 1000, 'of-another-topic', 1, 0
            from generate_series(1, ?) as numbers (number)
            """;

    /** The storage parameters, which {@code create table … (like …)} does not copy. */
    private static final String STORAGE =
            "select coalesce('with (' || array_to_string(reloptions, ', ') || ')', '') from pg_class where oid = ?::regclass";

    private final JdbcTemplate jdbc;
    private final String table;

    /** Creates tables that can replace the one of a listener. */
    FilledTables(JdbcTemplate jdbc, MeasuredListener listener) {
        this.jdbc = jdbc;
        this.table = listener.memory();
    }

    /** Creates a table with this many rows of a consumer; messages are nearly two weeks old. */
    void fill(int rows, String consumer) {
        String storage = this.jdbc.queryForObject(STORAGE, String.class, this.table);
        this.jdbc.execute("create table %s (like %s including all) %s".formatted(parked(rows), this.table, storage));
        String fill = this.table.equals(MeasuredListener.POSITIONS) ? FILL_POSITIONS : FILL_CLAIMS;
        fill(this.jdbc, fill.formatted(parked(rows)), parked(rows), rows, consumer);
    }

    /** Fills the application's table of messages. */
    static void fillApplications(JdbcTemplate jdbc, int rows, String consumer) {
        String table = MeasuredListener.CLAIMS;
        fill(jdbc, FILL_CLAIMS.formatted(table), table, rows, consumer);
    }

    private static void fill(JdbcTemplate jdbc, String fill, String table, int rows, String consumer) {
        jdbc.update(fill, consumer, rows);
        jdbc.execute("vacuum analyze " + table);
    }

    /** Measures with the table of this many rows in place of the application's. */
    double with(int rows, Supplier<Double> measurement) {
        rename(this.table, aside());
        rename(parked(rows), this.table);
        try {
            return measurement.get();
        } finally {
            rename(this.table, parked(rows));
            rename(aside(), this.table);
        }
    }

    void drop(List<Integer> rows) {
        rows.forEach(each -> this.jdbc.execute("drop table if exists " + parked(each)));
    }

    private void rename(String from, String to) {
        this.jdbc.execute("alter table %s rename to %s".formatted(from, to));
    }

    private String parked(int rows) {
        return this.table + "_" + rows;
    }

    private String aside() {
        return this.table + "_aside";
    }
}
