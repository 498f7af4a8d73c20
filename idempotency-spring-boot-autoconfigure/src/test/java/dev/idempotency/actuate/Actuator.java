package dev.idempotency.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.TestApplication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Requests to the endpoints of an application, by a user if it has any. */
record Actuator(TestApplication app, @Nullable String user) {

    Actuator(TestApplication app) {
        this(app, null);
    }

    HttpResponse<String> get(String path) {
        return request("GET", path, null);
    }

    HttpResponse<String> delete(String path) {
        return request("DELETE", path, null);
    }

    /** Apostrophes in the body stand for quotation marks. */
    HttpResponse<String> post(String path, String body) {
        return request("POST", path, body.replace('\'', '"'));
    }

    String ok(String path) {
        return body(get(path), 200);
    }

    static String body(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return response.body();
    }

    private HttpResponse<String> request(String method, String path, @Nullable String body) {
        String port = this.app.context().getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://localhost:" + port + "/actuator" + path))
                .header("Content-Type", "application/json")
                .method(method, (body != null) ? BodyPublishers.ofString(body) : BodyPublishers.noBody());
        if (this.user != null) {
            byte[] credentials = (this.user + ":password").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        try {
            return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }
}
