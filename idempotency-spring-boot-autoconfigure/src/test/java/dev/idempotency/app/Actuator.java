package dev.idempotency.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.assertj.core.api.ObjectAssert;
import org.jspecify.annotations.Nullable;

/** Sends requests to an application's endpoints, as a user if one is given, and verifies the status of the response. */
public record Actuator(TestApplication app, @Nullable String user) {

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    public String ok(String path) {
        return get(path, 200);
    }

    /** Returns the value at a JSON path of the response. Objects are maps in the order of their fields, arrays are lists. */
    public <T> T read(String path, String jsonPath) {
        return JsonPath.read(ok(path), jsonPath);
    }

    public ObjectAssert<Object> assertThatIn(String path, String jsonPath) {
        return assertThat(this.<Object>read(path, jsonPath)).as("%s of %s", jsonPath, path);
    }

    public String get(String path, int status) {
        return request("GET", path, null, status);
    }

    public String delete(String path, int status) {
        return request("DELETE", path, null, status);
    }

    /** Sends a JSON body that is written with single quotes. */
    public String post(String path, String body, int status) {
        return request("POST", path, body.replace('\'', '"'), status);
    }

    /** Encodes text for the path or a parameter of a URL. */
    public static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    public String request(String method, String path, @Nullable String body, int status) {
        String port = this.app.context().getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://localhost:" + port + "/actuator" + path))
                .header("Content-Type", "application/json")
                .method(method, (body != null) ? BodyPublishers.ofString(body) : BodyPublishers.noBody());
        if (this.user != null) {
            byte[] credentials = (this.user + ":password").getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
        HttpResponse<String> response;
        try {
            response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
        assertThat(response.statusCode())
                .as("%s %s %s: %s", method, path, body, response.body())
                .isEqualTo(status);
        return response.body();
    }
}
