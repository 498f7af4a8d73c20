package dev.idempotency.test;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.internal.database.DialectResolver;
import dev.idempotency.internal.database.IdempotencyDatabase;
import dev.idempotency.internal.database.Schema;
import dev.idempotency.internal.database.SchemaMode;
import dev.idempotency.internal.store.JdbcProcessedMessageStore;
import dev.idempotency.store.ProcessedMessageStore;
import dev.idempotency.testing.TestMariaDb;
import dev.idempotency.testing.TestPostgres;
import java.time.Duration;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** The contract of stores for the provided store. */
@ParameterizedClass
@ValueSource(strings = {"PostgreSQL", "MariaDB", "H2"})
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JdbcStoreContractIT extends ProcessedMessageStoreContract {

    @Parameter
    private String server;

    private HikariDataSource dataSource;
    private IdempotencyDatabase database;

    private static String emptyDatabase(String server) {
        return switch (server) {
            case "PostgreSQL" -> TestPostgres.createDatabase().jdbcUrl();
            case "MariaDB" ->
                TestMariaDb.createDatabase()
                        .orElseThrow(() -> new TestAbortedException("There is no embedded MariaDB for this platform"));
            default -> "jdbc:h2:mem:contract;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";
        };
    }

    @BeforeParameterizedClassInvocation
    void createTables(String server) {
        this.dataSource = new HikariDataSource();
        this.dataSource.setJdbcUrl(emptyDatabase(server));
        this.database = new IdempotencyDatabase(this.dataSource, DialectResolver.resolve(this.dataSource), null);
        new Schema(this.database, SchemaMode.MIGRATE).afterPropertiesSet();
    }

    @AfterParameterizedClassInvocation
    void close() {
        this.dataSource.close();
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
        try {
            this.database.jdbc().execute(this.server.equals("PostgreSQL") ? "select 1/0" : "rollback");
        } catch (DataIntegrityViolationException ex) {
            // Like some listeners.
        }
    }
}
