package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import dev.idempotency.app.ObservedApplication;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.core.JdbcTemplate;

@ExtendWith(ObservedApplication.Shared.class)
class IdempotencyHealthIT {

    private final ObservedApplication app;
    private final JdbcTemplate jdbc;

    IdempotencyHealthIT(ObservedApplication app) {
        this.app = app;
        this.jdbc = app.application().jdbc();
    }

    @AfterEach
    void mend() {
        this.app.cleanUp(limit -> 0);
    }

    @Test
    void allIsWellWhenTheStoreAnswersItsSchemaIsUpToDateAndTheCleanupKeepsUp() {
        this.app.cleanUp(limit -> 5);
        String body = this.app.get("/health/idempotency").body();
        assertThat(JsonPath.<String>read(body, "$.status")).isEqualTo("UP");
        assertThat(JsonPath.<String>read(body, "$.details.store")).isEqualTo("reachable");
        assertThat(JsonPath.<String>read(body, "$.details.schema")).isEqualTo("up to date");
        assertThat(JsonPath.<Integer>read(body, "$.details.lastCleanup.deleted"))
                .isEqualTo(5);
    }

    @Test
    void aCleanupThatDoesNotKeepUpDegradesItButNotTheApplication() {
        this.app.cleanUp(limit -> limit);
        assertDegraded();
    }

    @Test
    void aCleanupThatFailsDegradesItUntilOneSucceeds() {
        this.app.cleanUp(limit -> {
            throw new IllegalStateException("permission denied");
        });
        assertDegraded();
        assertThat(JsonPath.<String>read(this.app.get("/health/idempotency").body(), "$.details.cleanupFailure.reason"))
                .contains("permission denied");
        this.app.cleanUp(limit -> 0);
        assertThat(JsonPath.<String>read(this.app.get("/health/idempotency").body(), "$.status"))
                .isEqualTo("UP");
    }

    private void assertDegraded() {
        HttpResponse<String> response = this.app.get("/health/idempotency");
        assertThat(JsonPath.<String>read(response.body(), "$.status")).isEqualTo("DEGRADED");
        assertThat(response.statusCode()).isEqualTo(200);
        HttpResponse<String> whole = this.app.get("/health");
        assertThat(JsonPath.<String>read(whole.body(), "$.status")).isEqualTo("UP");
        assertThat(whole.statusCode()).isEqualTo(200);
    }

    @Test
    void aSchemaThatIsNotAtTheExpectedVersionIsDown() {
        this.jdbc.execute("alter table idempotency_processed rename column record_topic to topic_of_old");
        try {
            HttpResponse<String> response = this.app.get("/health/idempotency");
            assertThat(response.statusCode()).isEqualTo(503);
            assertThat(JsonPath.<String>read(response.body(), "$.details.schema"))
                    .contains("missing", "idempotency_processed");
        } finally {
            this.jdbc.execute("alter table idempotency_processed rename column topic_of_old to record_topic");
        }
    }
}
