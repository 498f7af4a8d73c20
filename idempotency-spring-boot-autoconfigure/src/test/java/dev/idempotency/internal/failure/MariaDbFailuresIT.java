package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotency.app.TestApplication;
import dev.idempotency.testing.TestMariaDb;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

/** Its driver throws much of what it does not know as a failure of the connection, and its states say little. */
class MariaDbFailuresIT extends AbstractStoreFailuresIT {

    private final String user = "app_" + UUID.randomUUID().toString().substring(0, 8);

    private String adminUrl;

    @Override
    String jdbcUrl() throws SQLException {
        this.adminUrl = TestMariaDb.createDatabase().orElse(null);
        Assumptions.assumeTrue(this.adminUrl != null, "There is no embedded MariaDB for this platform");
        asAdmin("create user '" + this.user + "'@'%' identified by 'secret'");
        grant("all");
        return userUrl() + "&sessionVariables=innodb_lock_wait_timeout=1";
    }

    @Override
    String adminUrl() {
        return this.adminUrl;
    }

    @Override
    String dropIndex(String name) {
        return super.dropIndex(name) + " on idempotency_processed";
    }

    @AfterAll
    void dropUser() throws SQLException {
        if (this.adminUrl != null) {
            asAdmin("drop user '" + this.user + "'@'%'");
        }
    }

    private String database() {
        return this.adminUrl.replaceFirst(".*/([^/?]+)\\?.*", "$1");
    }

    /** Leaves the user these privileges on the library's tables; connections that are open keep what they had. */
    private void grant(String privileges) throws SQLException {
        String grantee = " to '" + this.user + "'@'%'";
        asAdmin(
                "revoke all privileges, grant option from '" + this.user + "'@'%'",
                "grant " + privileges + " on " + database() + ".*" + grantee);
        if (!privileges.equals("all")) {
            asAdmin("grant insert on " + database() + ".effect" + grantee);
        }
        if (this.app != null) {
            this.app.bean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
        }
    }

    @Test
    void whatTheListenerSignalsIsTheMessagesFault() {
        send("signal");
        assertDeadLettered("signal");
    }

    @Test
    void aPrivilegeThatIsMissingIsWaitedForAndNamed() throws SQLException {
        try {
            grant("select, update, delete, create");
            send("patient without insert");
            awaitMoreRetriesThanAttempts();
            assertThat(health().getStatus()).isEqualTo(Status.DOWN);
            assertThat(health().getDetails().toString()).contains("INSERT command denied");
            assertRefused("INSERT command denied");
            grant("select, insert");
            assertRefused("UPDATE command denied");
        } finally {
            grant("all");
        }
        assertAppliedOnce("patient without insert");
        await().until(() -> health().getStatus() == Status.UP);
    }

    private void assertRefused(String denial) {
        List<String> properties =
                List.of("idempotency.schema.mode=validate", "spring.kafka.listener.auto-startup=false");
        assertThatThrownBy(() -> TestApplication.start(userUrl(), properties).close())
                .hasStackTraceContaining(denial)
                .hasStackTraceContaining("may not write the tables");
    }

    private String userUrl() {
        return this.adminUrl.replaceFirst("\\?.*", "") + "?user=" + this.user + "&password=secret";
    }
}
