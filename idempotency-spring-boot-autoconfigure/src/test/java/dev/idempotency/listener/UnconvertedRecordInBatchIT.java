package dev.idempotency.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.converter.JacksonJsonMessageConverter;

class UnconvertedRecordInBatchIT extends OneBatchTest {

    @Test
    void whatCannotBeConvertedIsGivenUpAlone() {
        try (TestApplication app =
                startWith(List.of(), Converted.class, "1:{\"name\":\"a\"}", "2:garbage", "3:{\"name\":\"c\"}")) {
            app.awaitCaughtUp(this.group, this.topic);
            assertThat(app.bean(Effects.class).all()).containsExactly("a", "c");
            assertThat(deadLetters()).containsExactly("garbage");
        }
    }

    @Import(Effects.class)
    static class Converted {

        private final Effects effects;

        Converted(Effects effects) {
            this.effects = effects;
        }

        public static class Named {
            public String name;
        }

        @Bean
        static JacksonJsonMessageConverter converter() {
            return new JacksonJsonMessageConverter();
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(List<Named> payloads) {
            payloads.forEach(named -> this.effects.happen((named != null) ? named.name : "nothing"));
        }
    }
}
