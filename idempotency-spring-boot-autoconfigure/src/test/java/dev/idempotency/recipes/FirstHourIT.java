package dev.idempotency.recipes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.TestApplication;
import dev.idempotency.app.TopicContents;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.stereotype.Component;

/** The first steps of the README, and of the pages that they link to. */
@ExtendWith(OutputCaptureExtension.class)
class FirstHourIT extends ApplicationTest {

    private static List<String> jsonBy(Class<?> reader) {
        List<String> deserializer = List.of(
                "spring.kafka.consumer.value-deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer",
                "spring.kafka.consumer.properties.spring.json.value.default.type=" + PaymentReceived.class.getName(),
                "spring.kafka.consumer.properties.spring.json.trusted.packages=dev.idempotency.recipes");
        return (reader == JsonDeserializer.class) ? deserializer : List.of();
    }

    @ParameterizedTest
    @ValueSource(classes = {JsonDeserializer.class, JsonConverter.class})
    void jsonIsReadByADeserializerOrAConverter(Class<?> reader) {
        try (TestApplication app = start(jsonBy(reader), Accounts.class, LedgerListener.class, reader)) {
            String payment = "{\"id\": \"%s\", \"account\": \"a\", \"amount\": 5}".formatted(reader.getSimpleName());
            app.send("payments", null, payment);
            app.send("payments", null, payment);
            app.awaitCaughtUp("ledger", "payments");
            assertThat(app.jdbc().queryForObject("select balance from account", Integer.class))
                    .isEqualTo(5);
        }
    }

    @Test
    void aMissingJsonSetUpIsNamedInTheLog(CapturedOutput output) {
        try (TestApplication app = start(Accounts.class, LedgerListener.class)) {
            app.send("payments", null, "{\"id\": \"secret\", \"account\": \"a\", \"amount\": 5}");
            app.awaitCaughtUp("ledger", "payments");
            assertThat(output)
                    .contains("value of type java.lang.String. For JSON, set spring.kafka.consumer.value-deserializer")
                    .doesNotContain("secret");
        }
    }

    @Test
    void aPartitionThatWaitsQuotesNoPayloadInTheLog(CapturedOutput output) {
        List<String> properties = List.of("idempotency.dead-letters.enabled=false");
        try (TestApplication app = start(properties, UnreadableListener.class)) {
            app.send(this.topic, "1", "secret");
            await().until(() -> output.getAll().contains("It is not skipped: its partition waits"));
            assertThat(output).doesNotContain("secret");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {JsonConverter.class, JsonDeserializer.class})
    void aPayloadThatIsNoJsonOfItsTypeIsNotQuotedInTheLog(Class<?> reader, CapturedOutput output) {
        try (TestApplication app = start(jsonBy(reader), Accounts.class, LedgerListener.class, reader)) {
            app.send("payments", null, "{\"id\": \"1\", \"account\": \"a\", \"amount\": \"secret\"}");
            app.awaitCaughtUp("ledger", "payments");
            await().until(() -> !TopicContents.of("payments-dlt").isEmpty());
            assertThat(output).contains("in the headers of the dead letter").doesNotContain("secret");
        }
    }

    @Test
    void theReasonThatTheLogMayNotQuoteIsInTheDeadLetter(CapturedOutput output) {
        List<String> withoutType = List.of(
                "spring.kafka.consumer.value-deserializer=org.springframework.kafka.support.serializer.JacksonJsonDeserializer");
        try (TestApplication app = start(withoutType, Accounts.class, LedgerListener.class)) {
            app.send("payments", null, "{\"id\": \"secret\", \"account\": \"a\", \"amount\": 5}");
            app.awaitCaughtUp("ledger", "payments");
            assertThat(output)
                    .contains("cause: java.lang.IllegalStateException", "in the headers of the dead letter")
                    .doesNotContain("secret");
            assertThat(TopicContents.of("payments-dlt").stream()
                            .map(letter -> letter.headers().lastHeader(KafkaHeaders.DLT_EXCEPTION_STACKTRACE)))
                    .anyMatch(header -> new String(header.value(), UTF_8).contains("No type information in headers"));
        }
    }

    static class UnreadableListener {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#record.key()")
        void on(PaymentReceived payment) {}
    }

    static class Accounts {

        Accounts(JdbcTemplate jdbc) {
            jdbc.execute("create table account (id text primary key, balance numeric)");
            jdbc.execute("insert into account values ('a', 0)");
        }
    }

    static class JsonDeserializer {}

    static class JsonConverter {

        @Bean
        RecordMessageConverter jsonConverter() {
            return new StringJacksonJsonMessageConverter();
        }
    }
}

record PaymentReceived(String id, String account, BigDecimal amount) {}

@Component
class LedgerListener {

    private final JdbcTemplate jdbc;

    LedgerListener(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @KafkaListener(topics = "payments", groupId = "ledger")
    @IdempotentListener(consumer = "ledger", key = "#payment.id")
    void on(PaymentReceived payment) {
        this.jdbc.update("update account set balance = balance + ? where id = ?", payment.amount(), payment.account());
    }
}
