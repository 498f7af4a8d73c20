package dev.idempotency.test;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** The provided store. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class JdbcStoreContract extends ProcessedMessageStoreContract {

    private HikariDataSource dataSource;
    private IdempotencyDatabase database;

    abstract String jdbcUrl();

    @BeforeAll
    void createTables() {
        this.dataSource = new HikariDataSource();
        this.dataSource.setJdbcUrl(jdbcUrl());
        this.database = new IdempotencyDatabase(this.dataSource, DialectResolver.resolve(this.dataSource), null);
        new Schema(this.database, SchemaMode.MIGRATE).afterPropertiesSet();
    }

    @AfterAll
    void close() {
        if (this.dataSource != null) {
            this.dataSource.close();
        }
    }

    final JdbcTemplate jdbc() {
        return this.database.jdbc();
    }

    @Override
    protected ProcessedMessageStore createStore(Duration claimTimeout) {
        return new JdbcProcessedMessageStore(this.database, claimTimeout);
    }

    @Override
    protected PlatformTransactionManager transactionManager() {
        return new JdbcTransactionManager(this.dataSource);
    }

    @Override
    protected void abortTransaction() {
        jdbc().execute("rollback");
    }
}
