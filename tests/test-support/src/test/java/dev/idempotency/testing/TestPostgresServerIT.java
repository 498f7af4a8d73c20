package dev.idempotency.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class TestPostgresServerIT {

    @Test
    void aDatabaseServerIsAwayWhenStoppedAndHasWhatWasCommittedWhenStartedAgain() throws SQLException {
        try (TestPostgresServer server = TestPostgresServer.start()) {
            String url = server.jdbcUrl();
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.execute("create table kept as select 42 as answer");
            }
            server.stopImmediately();
            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> DriverManager.getConnection(url).close());
            server.startAgain();
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("select answer from kept")) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.getInt(1)).isEqualTo(42);
            }
        }
    }
}
