package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.Strategy;
import dev.idempotency.database.DialectResolver;
import dev.idempotency.database.IdempotencyDatabase;
import dev.idempotency.failure.BackOffSettings;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.failure.OutageRegistry;
import dev.idempotency.metrics.ConsumerCounts;
import dev.idempotency.metrics.StoreWatch;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.store.JdbcPositionStore;
import dev.idempotency.store.StoreStatistics;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class ConsumerReportsTests {

    private final AtomicInteger connections = new AtomicInteger();

    /** A pool from which nobody gets a connection, after half a minute by default. */
    private final class ExhaustedPool extends DelegatingDataSource {

        @Override
        public Connection getConnection() throws SQLException {
            ConsumerReportsTests.this.connections.incrementAndGet();
            throw new SQLTransientConnectionException("There is none");
        }
    }

    @Test
    void whileTheDatabaseIsAwayItIsNotWaitedForOncePerConsumer() {
        DataSource present = new DriverManagerDataSource("jdbc:h2:mem:reports");
        IdempotencyDatabase away = new IdempotencyDatabase(new ExhaustedPool(), DialectResolver.resolve(present), null);
        List<ConsumerDescription> consumers = Stream.of("a", "b", "c")
                .map(name -> new ConsumerDescription(
                        name, "listener", List.of("topic"), "group", "offsets", Duration.ofDays(7), Strategy.OFFSET))
                .toList();
        ConsumerReports reports = new ConsumerReports(
                () -> consumers,
                ConsumerCounts.NONE,
                new StoreWatch(() -> StoreStatistics.UNKNOWN, Duration.ofMinutes(1)),
                new OutageRegistry(
                        "",
                        failure -> FailureKind.MESSAGE,
                        new BackOffSettings(Duration.ofSeconds(1), Duration.ofSeconds(1), 1),
                        () -> true),
                null,
                new JdbcPositionStore(away, Duration.ofSeconds(1)));
        assertThat(reports.all().consumers()).hasSize(3).allSatisfy(report -> assertThat(report.positions())
                .isNull());
        assertThat(this.connections).hasValue(1);
    }
}
