package dev.idempotency.benchmarks.scenario;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.Claim;
import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.benchmarks.report.Cell;
import dev.idempotency.benchmarks.report.ResultTable;
import dev.idempotency.benchmarks.report.Spread;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.RetentionMode;
import dev.idempotency.internal.database.Ring;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.internal.retention.RingCleanup;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.internal.store.ProcessedMessagePurge;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Claims of time-ordered ids with the library's store, without a broker: in one table and in a ring, each empty and with many
 * rows; and the time to remove these rows.
 */
public final class RingOfTables implements Scenario {

    private static final int BATCH = 500;
    private static final int DELETED = 100_000;
    private static final String CONSUMER = "benchmark";
    private static final AtomicLong NUMBERS = new AtomicLong();

    @Override
    public ResultTable measure(Setting setting) {
        Sizes sizes = setting.sizes().shorter();
        int rows = sizes.tableRows().get(sizes.tableRows().size() - 1);
        try (HikariDataSource dataSource = new HikariDataSource()) {
            dataSource.setJdbcUrl(setting.database().jdbcUrl());
            List<Layout> layouts = List.of(
                    new Layout(dataSource, "one_table", RetentionMode.DELETE, 0),
                    new Layout(dataSource, "ring", RetentionMode.RING, 0),
                    new Layout(dataSource, "one_table_full", RetentionMode.DELETE, rows),
                    new Layout(dataSource, "ring_full", RetentionMode.RING, rows));
            List<Variant> variants = new ArrayList<>();
            for (int batch : List.of(1, BATCH)) {
                layouts.forEach(layout -> variants.add(new Variant(
                        layout.name(batch), () -> layout.claim(sizes.messages() * batch / 20 + BATCH, batch))));
            }
            ComparedRates compared = RoundRobin.run(variants, sizes, () -> {});
            List<List<Cell>> table =
                    new ArrayList<>(compared.rowsComparedWith(layouts.get(0).name(BATCH)));
            table.add(row(
                    "bytes per row and its indexes, one table", layouts.get(2).bytesPerRow(rows)));
            table.add(row("bytes per row and its indexes, ring", layouts.get(3).bytesPerRow(rows)));
            table.add(row(
                    "seconds to delete %,d of %,d rows".formatted(Math.min(rows, DELETED), rows),
                    layouts.get(2).delete(Math.min(rows, DELETED))));
            table.add(row(
                    "seconds to empty a slot of %,d rows".formatted(rows),
                    layouts.get(3).empty()));
            table.add(row(
                    "megabytes when all have expired, one table",
                    layouts.get(2).deleteExpired().megabytes()));
            table.add(
                    row("megabytes when all have expired, ring", layouts.get(3).megabytes()));
            layouts.forEach(Layout::drop);
            return new ResultTable(
                    "A ring of tables",
                    setting.describe("claims of one connection, one or %d a transaction; full: %,d rows before"
                            .formatted(BATCH, rows)),
                    ComparedRates.COLUMNS,
                    table,
                    compared.rates());
        }
    }

    private static List<Cell> row(String name, double value) {
        Spread spread = new Spread(value, value, value);
        return List.of(Cell.of(name), Cell.median(spread, 2), Cell.none(), Cell.none());
    }

    /** A schema with the library's tables. */
    private static final class Layout {

        private final String schema;
        private final IdempotencyDatabase database;
        private final JdbcTemplate jdbc;
        private final JdbcProcessedMessageStore store;
        private final TransactionTemplate transaction;
        private final String table;
        private final int slot;

        Layout(HikariDataSource dataSource, String schema, RetentionMode mode, int rows) {
            this.schema = schema;
            this.jdbc = new JdbcTemplate(dataSource);
            this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
            this.database = new IdempotencyDatabase(dataSource, DialectResolver.resolve(dataSource), schema, mode);
            new Schema(this.database, SchemaMode.MIGRATE)
                    .ringWidth(Duration.ofDays(36_500), true)
                    .afterPropertiesSet();
            this.store = new JdbcProcessedMessageStore(this.database, Duration.ofSeconds(10));
            boolean ring = mode == RetentionMode.RING;
            this.slot = ring ? new Ring(this.database).slotAt(System.currentTimeMillis()) : -1;
            this.table = ring ? this.database.slotTable(this.slot) : this.database.processedTable();
            this.jdbc.update("""
                    insert into %s (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                    select ?, uuidv7()::text, current_timestamp - interval '13 days', 'benchmark', 0, number
                    from generate_series(1, ?) as number
                    """.formatted(this.table), CONSUMER, rows);
            this.jdbc.execute("vacuum analyze " + this.table);
        }

        String name(int batch) {
            return "%s, %s"
                    .formatted(this.schema.replace('_', ' '), (batch == 1) ? "one by one" : "batches of " + batch);
        }

        double claim(int claims, int batch) {
            return ClaimTable.perSecond(claims, () -> {
                for (int done = 0; done < claims; done += batch) {
                    List<Claim> some = IntStream.range(0, batch)
                            .mapToObj(number -> newClaim())
                            .toList();
                    this.transaction.executeWithoutResult(status -> this.store.claim(some));
                }
            });
        }

        private static Claim newClaim() {
            long number = NUMBERS.incrementAndGet();
            String time = "%012x".formatted(System.currentTimeMillis());
            String id =
                    "%s-%s-7%03x-8000-%012x".formatted(time.substring(0, 8), time.substring(8), number & 0xfff, number);
            return new Claim(new MessageId(CONSUMER, id), new RecordCoordinates("benchmark", 0, number));
        }

        double bytesPerRow(int rows) {
            this.jdbc.update(
                    "delete from %s where processed_at > current_timestamp - interval '1 day'".formatted(this.table));
            return megabytes() * 1e6 / Math.max(rows, 1);
        }

        /** Leaves the table like the cleanup and autovacuum, with the newest row at its end. */
        Layout deleteExpired() {
            this.jdbc.update(
                    "delete from %s where processed_at < current_timestamp - interval '1 day'".formatted(this.table));
            this.jdbc.execute("vacuum " + this.table);
            return this;
        }

        double megabytes() {
            Long bytes = this.jdbc.queryForObject(
                    "select pg_total_relation_size(cast(? as regclass))", Long.class, this.table);
            return Objects.requireNonNull(bytes) / 1e6;
        }

        /** Deletes rows without the cleanup's pauses between batches. */
        double delete(int rows) {
            ProcessedMessagePurge purge = new ProcessedMessagePurge(this.database);
            claim(1, 1);
            long start = System.nanoTime();
            Instant from = ProcessedMessagePurge.BEGINNING;
            for (int done = 0; done < rows; done += 1_000) {
                from = purge.purgeAbandoned(CONSUMER, Duration.ZERO, from, 1_000)
                        .upTo();
            }
            return (System.nanoTime() - start) / 1e9;
        }

        double empty() {
            long start = System.nanoTime();
            if (!new RingCleanup(this.database, Map::of, null)
                    .empty(this.slot, consumer -> Instant.now().minusSeconds(86_400))) {
                throw new IllegalStateException("The slot was not emptied");
            }
            return (System.nanoTime() - start) / 1e9;
        }

        void drop() {
            this.jdbc.execute("drop schema %s cascade".formatted(this.schema));
        }
    }
}
