package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MixedVersionsException;
import dev.idempotency.Strategy;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.FixedBackOff;

/** A version that does not compare, in a batch whose error handler is not ours: it is named, and given up alone. */
class VersionMixedIT extends OneBatchTest {

    private static final List<String> GIVEN_UP = new CopyOnWriteArrayList<>();

    @Test
    void anErrorHandlerOfTheApplicationIsToldWhichRecordDoesNotCompare() {
        try (TestApplication app =
                startWith(List.of(), Listener.class, "1:a=1", "2:a=2026-11-17T09:30:00Z", "3:a=2", "4:b=1")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a=1", "a=2", "b=1");
            assertThat(GIVEN_UP).containsExactly("a=2026-11-17T09:30:00Z");
        }
    }

    @Import(Effects.class)
    static class Listener {

        private final Effects effects;

        Listener(Effects effects) {
            this.effects = effects;
        }

        @Bean
        static DefaultErrorHandler errorHandler() {
            return new DefaultErrorHandler(
                    (record, ex) -> {
                        assertThat(ex).hasRootCauseInstanceOf(MixedVersionsException.class);
                        GIVEN_UP.add(String.valueOf(record.value()));
                    },
                    new FixedBackOff(0, 1));
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(
                strategy = Strategy.VERSION,
                key = "#payload.split('=')[0]",
                version = "#payload.split('=')[1]")
        void on(List<String> payloads) {
            payloads.forEach(this.effects::happen);
        }
    }
}
