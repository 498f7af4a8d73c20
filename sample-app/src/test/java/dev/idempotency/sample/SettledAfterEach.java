package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import java.time.Duration;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.junit.jupiter.SpringExtension;
import org.springframework.web.client.RestClient;

/**
 * Waits after each test until all of its messages are consumed and duplicates dropped: the next test uses the same
 * application, and counts from its state.
 */
final class SettledAfterEach implements AfterEachCallback {

    @Override
    public void afterEach(ExtensionContext test) {
        ApplicationContext sample = SpringExtension.getApplicationContext(test);
        JdbcClient jdbc = sample.getBean(JdbcClient.class);
        String port = sample.getEnvironment().getRequiredProperty("local.server.port");
        RestClient http = RestClient.create("http://localhost:" + port);
        await("everything is read").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            String ledger = http.get().uri("/api/ledger").retrieve().body(String.class);
            assertThat(JsonPath.<Integer>read(ledger, "$.backlog")).isZero();
            assertThat(Books.read(jdbc)).matches(Books::areRight);
        });
    }
}
