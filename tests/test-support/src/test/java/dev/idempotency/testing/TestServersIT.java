package dev.idempotency.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;

class TestServersIT {

    @Test
    void everyDatabaseIsEmptyAndItsOwn() throws SQLException {
        try (TestDatabase one = TestPostgres.createDatabase();
                TestDatabase other = TestPostgres.createDatabase()) {
            assertThat(one.jdbcUrl()).isNotEqualTo(other.jdbcUrl());
            try (Connection connection = DriverManager.getConnection(one.jdbcUrl());
                    Statement statement = connection.createStatement();
                    ResultSet tables = statement.executeQuery(
                            "select count(*) from information_schema.tables where table_schema = 'public'")) {
                assertThat(tables.next()).isTrue();
                assertThat(tables.getInt(1)).isZero();
            }
        }
    }

    @Test
    void topicsExistOnceCreated() throws Exception {
        String topic = TestKafka.createTopic("orders", 3);
        try (Admin admin = TestKafka.admin()) {
            assertThat(admin.listTopics().names().get(30, TimeUnit.SECONDS)).contains(topic);
        }
    }
}
