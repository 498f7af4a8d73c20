package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** The sample without its page, for environments without a browser. */
@SampleTest
class SampleApplicationIT {

    private final JdbcClient jdbc;
    private final RestClient http;

    SampleApplicationIT(@Autowired JdbcClient jdbc, @LocalServerPort int port) {
        this.jdbc = jdbc;
        this.http = RestClient.create("http://localhost:" + port);
    }

    @Test
    void aPaymentSentFiveTimesIsAddedOnceWithTheAnnotationAndFiveTimesWithout() {
        Books before = Books.read(this.jdbc);

        this.http.post().uri("/api/payments?times=5").retrieve().toBodilessEntity();

        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            Books after = Books.read(this.jdbc);
            BigDecimal payment = after.paidIn().subtract(before.paidIn());
            assertThat(payment).isPositive();
            assertThat(after).as("%s", after).matches(Books::areRight);
            assertThat(after.without()).isEqualTo(before.without().add(payment.multiply(BigDecimal.valueOf(5))));
        });
    }

    @Test
    void thePaymentsOfTheListenerWithAnInboxCanBeLookedAt() {
        this.http.post().uri("/api/payments").retrieve().toBodilessEntity();

        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            String inbox = this.http
                    .get()
                    .uri("/actuator/idempotencyinbox?consumer=receipts&status=processed&size=1")
                    .retrieve()
                    .body(String.class);
            assertThat(inbox).contains("\"consumer\":\"receipts\"", "\"attempts\":1");
        });
        assertThat(this.jdbc
                        .sql("select payload_json ->> 'account' from idempotency_inbox_readable limit 1")
                        .query(String.class)
                        .single())
                .isIn("Alice", "Bob", "Carol", "Dave");
    }

    @Test
    void aRequestWithAKeyIsBookedOnceAndAnsweredTheSameHoweverOftenItIsSent() {
        String key = UUID.randomUUID().toString();
        List<CompletableFuture<String>> atOnce = Stream.generate(() -> CompletableFuture.supplyAsync(() -> book(key)))
                .limit(4)
                .toList();
        Set<String> answers =
                atOnce.stream().map(CompletableFuture::join).collect(Collectors.toCollection(HashSet::new));
        answers.add(book(key));

        assertThat(answers).singleElement().asString().contains("\"account\":\"Bob\"", "\"amount\":12.5");
        assertThat(book(UUID.randomUUID().toString())).isNotIn(answers);
        assertThatExceptionOfType(HttpClientErrorException.BadRequest.class).isThrownBy(() -> book(" "));
    }

    private String book(String key) {
        return this.http
                .post()
                .uri("/api/payments")
                .header("Idempotency-Key", key)
                .contentType(MediaType.APPLICATION_JSON)
                .body("{\"account\": \"Bob\", \"amount\": 12.50}")
                .retrieve()
                .body(String.class);
    }

    @Test
    void theApplicationIsHealthy() {
        String health = this.http.get().uri("/actuator/health").retrieve().body(String.class);
        assertThat(health).contains("\"status\":\"UP\"");
    }
}
