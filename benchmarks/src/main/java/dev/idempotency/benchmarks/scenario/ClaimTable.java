package dev.idempotency.benchmarks.scenario;

import dev.idempotency.benchmarks.harness.BenchmarkDatabase;
import java.time.Duration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * A table like that of processed messages, with claims and deletions as the library makes them and neither a broker nor a
 * listener around: what the database does with ids and with rows that go again.
 */
final class ClaimTable implements AutoCloseable {

    private static final String SCRIPT = "dev/idempotency/schema/postgresql/idempotency_V1__tables.sql";

    private static final int ROWS_PER_CLAIM = 500;
    private static final int ROWS_PER_DELETION = 1_000;

    private final SingleConnectionDataSource connection;
    private final JdbcTemplate jdbc;
    private final String name;
    private final String newId;

    /** Makes a table whose ids are made by an expression of SQL, and fills it in the order of its primary key. */
    ClaimTable(BenchmarkDatabase database, String name, String newId, int rows) {
        ResourceDatabasePopulator script = new ResourceDatabasePopulator(new ClassPathResource(SCRIPT));
        script.setSeparator(ScriptUtils.EOF_STATEMENT_SEPARATOR);
        script.execute(new DriverManagerDataSource(database.jdbcUrl()));
        this.connection = new SingleConnectionDataSource(database.jdbcUrl(), true);
        this.jdbc = new JdbcTemplate(this.connection);
        this.name = name;
        this.newId = newId;
        this.jdbc.execute("create table %s (like idempotency_processed including all)".formatted(name));
        this.jdbc.update("""
                insert into %s (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                select 'benchmark', id, current_timestamp - interval '1 day', 'benchmark', 0, row_number() over ()
                from (select (%s)::text as id from generate_series(1, ?)) as ids
                order by id
                """.formatted(name, newId), rows);
        this.jdbc.execute("vacuum analyze " + name);
    }

    /** Changes how the table is vacuumed. */
    ClaimTable with(String settings) {
        this.jdbc.execute("alter table %s set (%s)".formatted(this.name, settings));
        return this;
    }

    /** Claims so many new ids, 500 a transaction. */
    void claim(int rows) {
        String claim = """
                insert into %s (consumer_id, message_id, record_topic, record_partition, record_offset)
                select 'benchmark', (%s)::text, 'benchmark', 0, offsets from generate_series(1, ?) as offsets
                on conflict do nothing
                """.formatted(this.name, this.newId);
        for (int done = 0; done < rows; done += ROWS_PER_CLAIM) {
            this.jdbc.update(claim, Math.min(ROWS_PER_CLAIM, rows - done));
        }
    }

    /** Removes so many of the oldest, 1 000 a transaction, as the cleanup does. */
    void removeOldest(int rows) {
        String remove = """
                delete from %1$s where ctid = any (array(
                    select ctid from %1$s where consumer_id = 'benchmark' order by processed_at limit ?
                    for update skip locked))
                """.formatted(this.name);
        for (int done = 0; done < rows; done += ROWS_PER_DELETION) {
            this.jdbc.update(remove, Math.min(ROWS_PER_DELETION, rows - done));
        }
    }

    void checkpoint() {
        this.jdbc.execute("checkpoint");
    }

    long bytesOfWalDuring(Runnable work) {
        String position = "select pg_current_wal_lsn() - '0/0'::pg_lsn";
        long before = this.jdbc.queryForObject(position, Long.class);
        work.run();
        return this.jdbc.queryForObject(position, Long.class) - before;
    }

    /** The table with all its indexes. */
    double megabytes() {
        return this.jdbc.queryForObject("select pg_total_relation_size(?::regclass)", Long.class, this.name) / 1e6;
    }

    long vacuums() {
        this.jdbc.queryForList("select pg_stat_clear_snapshot()");
        return this.jdbc.queryForObject(
                "select autovacuum_count from pg_stat_user_tables where relname = ?", Long.class, this.name);
    }

    JdbcTemplate jdbc() {
        return this.jdbc;
    }

    static double perSecond(int rows, Runnable work) {
        long start = System.nanoTime();
        work.run();
        return rows / (Duration.ofNanos(System.nanoTime() - start).toNanos() / 1e9);
    }

    @Override
    public void close() {
        this.jdbc.execute("drop table " + this.name);
        this.connection.destroy();
    }
}
