package dev.idempotency.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StatementWatchIT {

    private static final int ONE_SECOND = 1;
    private static final int ONE_MINUTE = 60;

    private final StatementWatch watch = new StatementWatch(Duration.ofMillis(400));
    private TestDatabase database;
    private Connection connection;

    @BeforeEach
    void connect() throws SQLException {
        this.database = TestPostgres.createDatabase();
        this.connection = DriverManager.getConnection(this.database.jdbcUrl());
    }

    @AfterEach
    void disconnect() throws SQLException {
        this.connection.close();
        this.database.close();
    }

    @Test
    void aStatementThatTakesTooLongIsCancelled() throws SQLException {
        try (Statement statement = this.connection.createStatement()) {
            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> executeWatched(statement, "select pg_sleep(60)"))
                    .satisfies(ex ->
                            assertThat(new PostgresDialect().isTimeout(ex)).isTrue());
        }
    }

    @Test
    void whatTheConnectionDoesAfterwardsMayTakeAsLongAsItLikes() throws SQLException {
        try (Statement statement = this.connection.createStatement()) {
            executeWatched(statement, "select 1");
            statement.execute("select pg_sleep(1.5)");
        }
    }

    @Test
    void itsThreadEndsWhenThereIsNothingToWatchAndBeginsAgainWithTheNextStatement() throws SQLException {
        try (Statement statement = this.connection.createStatement()) {
            assertThat(this.watch.isWatching()).isFalse();
            this.watch.begin(statement, ONE_MINUTE);
            assertThat(this.watch.isWatching()).isTrue();
            this.watch.end(statement);
            await().atMost(Duration.ofSeconds(30)).until(() -> !this.watch.isWatching());
            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> executeWatched(statement, "select pg_sleep(60)"));
        }
    }

    @Test
    void itsThreadEndsAtOnceWhenItIsClosed() throws SQLException {
        StatementWatch restless = new StatementWatch();
        try (Statement statement = this.connection.createStatement()) {
            restless.begin(statement, ONE_SECOND);
            restless.end(statement);
        }
        assertThat(restless.isWatching()).isTrue();
        restless.close();
        await().until(() -> !restless.isWatching());
    }

    private void executeWatched(Statement statement, String sql) throws SQLException {
        this.watch.begin(statement, ONE_SECOND);
        try {
            statement.execute(sql);
        } finally {
            this.watch.end(statement);
        }
    }
}
