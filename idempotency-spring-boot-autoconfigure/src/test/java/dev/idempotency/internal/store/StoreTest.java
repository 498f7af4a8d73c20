package dev.idempotency.internal.store;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.internal.database.IdempotencyDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Tests of the library's statements on the real database of every dialect, each with empty tables. */
@ParameterizedClass
@EnumSource(StoreServer.class)
public abstract class StoreTest {

    protected static final Duration PATIENCE = Duration.ofSeconds(30);

    @Parameter
    protected StoreServer server;

    protected HikariDataSource dataSource;
    protected IdempotencyDatabase database;
    protected JdbcTemplate jdbc;
    protected TransactionTemplate transaction;

    @BeforeEach
    final void emptyTables() {
        this.dataSource = this.server.dataSource();
        this.database = this.server.database();
        this.jdbc = new JdbcTemplate(this.dataSource);
        this.transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
        this.jdbc.execute("create table if not exists effect (id varchar(100) not null)");
        this.jdbc.update("delete from effect");
        for (String table : List.of("processed", "position", "version", "inbox")) {
            this.jdbc.update("delete from idempotency_" + table);
        }
    }
}
