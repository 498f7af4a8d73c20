package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MessageId;
import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.Failures;
import dev.idempotency.app.Outcomes;
import dev.idempotency.app.TestApplication;
import dev.idempotency.key.MessageKeyResolver;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.kafka.annotation.KafkaListener;

class MessageKeysIT extends ApplicationTest {

    @Test
    void aMessageWithoutAUsableKeyGoesToTheRecovererAtOnceAndTheOthersAreProcessed() {
        try (TestApplication app = start(KeyFromPayload.class, Failures.class, Outcomes.class)) {
            app.send(this.topic, null, " ");
            app.send(this.topic, null, "a\0b");
            app.send(this.topic, null, "x".repeat(300));
            app.send(this.topic, null, "x".repeat(300));
            app.awaitCaughtUp(this.group, this.topic);
            Failures failures = app.bean(Failures.class);
            assertThat(failures.causes())
                    .extracting(Throwable::getClass)
                    .as("one attempt each")
                    .satisfiesExactly(
                            type -> assertThat(type).isEqualTo(MissingMessageKeyException.class),
                            type -> assertThat(type).isEqualTo(InvalidMessageKeyException.class));
            assertThat(failures.causes().get(1)).hasMessageContaining(this.topic + "-0@1");
            assertThat(failures.recovered()).hasSize(2);
            assertThat(app.bean(Effects.class).all()).containsExactly("x".repeat(300));
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(2);
        }
    }

    @Test
    void twoMessagesWithoutAnIdAreNotTakenForOne() {
        try (TestApplication app = start(KeyOfParts.class, Failures.class, Outcomes.class)) {
            app.send(this.topic, null, "first order");
            app.send(this.topic, null, "second order");
            app.send(this.topic, "7", "third order");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Failures.class).recovered())
                    .extracting(record -> (Object) record.value())
                    .containsExactly("first order", "second order");
            assertThat(app.bean(Effects.class).all()).containsExactly("third order");
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(2);
        }
    }

    @Test
    void aKeyThatCannotBeFoundIsNotLookedForAgainAndCounted() {
        try (TestApplication app = start(KeyThatThrows.class, Failures.class, Outcomes.class)) {
            app.send(this.topic, null, "abc");
            app.send(this.topic, null, "7");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Failures.class).causes()).singleElement().satisfies(failure -> assertThat(failure)
                    .isInstanceOf(InvalidMessageKeyException.class)
                    .hasMessageContaining(this.topic + "-0@0")
                    .hasCauseInstanceOf(NumberFormatException.class));
            assertThat(app.bean(Failures.class).recovered()).hasSize(1);
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(1);
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(MessageId::value)
                    .containsExactly("7");
        }
    }

    @Test
    void whatAResolverThrowsIsTheMessagesFaultUnlessItIsAnOutage() {
        try (TestApplication app = start(
                List.of("idempotency.errors.outage.max-interval=50ms"),
                KeyFromHeaders.class,
                ThrowingResolver.class,
                Failures.class,
                Outcomes.class)) {
            app.send(this.topic, null, "runtime exception");
            app.send(this.topic, null, "stack overflow");
            app.send(this.topic, null, "outage");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Failures.class).causes())
                    .as("one attempt each, and none for what was waited for")
                    .satisfiesExactly(
                            failure -> assertThat(failure)
                                    .isInstanceOf(InvalidMessageKeyException.class)
                                    .hasCauseInstanceOf(UnsupportedOperationException.class),
                            failure -> assertThat(failure)
                                    .isInstanceOf(InvalidMessageKeyException.class)
                                    .hasCauseInstanceOf(StackOverflowError.class));
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(2);
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(MessageId::value)
                    .containsExactly("outage");
        }
    }

    @Test
    void onRequestAMessageWithoutAKeyIsProcessedWithoutDeduplicationAndCounted() {
        try (TestApplication app =
                start(List.of("idempotency.key.on-missing=process"), KeyFromPayload.class, Outcomes.class)) {
            app.send(this.topic, null, " ");
            app.send(this.topic, null, " ");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly(" ", " ");
            assertThat(app.bean(Outcomes.class).missingKeys).hasSize(2);
            assertThat(app.bean(Outcomes.class).processed).isEmpty();
        }
    }

    @Test
    void theHeadersToLookAtCanBeChosen() {
        try (TestApplication app = start(
                List.of("idempotency.key.headers=x-request-id,message-id"), KeyFromHeaders.class, Outcomes.class)) {
            app.send(this.topic, "1", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(MessageId::value)
                    .containsExactly("1");
            assertThat(app.bean(Outcomes.class).consumers.get(0).keySource()).contains("x-request-id");
        }
    }

    @Test
    void theUsersOwnResolverReplacesTheHeaders() {
        try (TestApplication app = start(KeyFromHeaders.class, OwnResolver.class, Outcomes.class)) {
            app.send(this.topic, "ignored", "a");
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Outcomes.class).processed)
                    .extracting(MessageId::value)
                    .containsExactly("own a");
        }
    }

    @Import(Effects.class)
    static class KeyFromPayload {

        private final Effects effects;

        KeyFromPayload(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#payload")
        void on(String payload) {
            this.effects.happen(payload);
        }
    }

    @Import(Effects.class)
    static class KeyOfParts {

        private final Effects effects;

        KeyOfParts(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "#headers['message-id'] + '/NEW'")
        void on(String payload) {
            this.effects.happen(payload);
        }
    }

    static class KeyFromHeaders {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {}
    }

    static class OwnResolver {

        @Bean
        MessageKeyResolver mine() {
            return record -> "own " + record.value();
        }
    }

    static class KeyThatThrows {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(key = "T(Long).parseLong(#payload)")
        void on(String payload) {}
    }

    static class ThrowingResolver {

        private final AtomicInteger outages = new AtomicInteger();

        @Bean
        MessageKeyResolver throwing() {
            return record -> switch (String.valueOf(record.value())) {
                case "runtime exception" -> throw new UnsupportedOperationException("on purpose");
                case "stack overflow" -> throw new StackOverflowError("on purpose");
                default -> {
                    if (this.outages.incrementAndGet() < 3) {
                        throw new DataAccessResourceFailureException("on purpose");
                    }
                    yield String.valueOf(record.value());
                }
            };
        }
    }
}
