package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.TestApplication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

class IdempotencyEndpointAccessIT {

    @Test
    void unlessAccessIsUnrestrictedMessagesCanBeReadButNotForgotten() throws Exception {
        List<String> properties = List.of(
                "spring.main.web-application-type=servlet",
                "server.port=0",
                "management.endpoints.web.exposure.include=idempotency");
        try (TestApplication app =
                TestApplication.start("jdbc:h2:mem:access;DB_CLOSE_DELAY=-1;DATABASE_TO_UPPER=false", properties)) {
            JdbcTemplate jdbc = app.jdbc();
            jdbc.update("insert into idempotency_processed (consumer_id, message_id, record_topic, record_partition,"
                    + " record_offset) values ('billing', '1', 'bills', 0, 0)");
            assertThat(request(app, "GET", "/idempotency/billing/1")).isEqualTo(200);
            assertThat(request(app, "DELETE", "/idempotency/billing/1")).isEqualTo(405);
            assertThat(request(app, "DELETE", "/idempotency?consumer=billing&messageId=1"))
                    .isEqualTo(405);
            assertThat(jdbc.queryForObject("select count(*) from idempotency_processed", Integer.class))
                    .isOne();
        }
    }

    private static int request(TestApplication app, String method, String path) throws Exception {
        String port = app.context().getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator" + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }
}
