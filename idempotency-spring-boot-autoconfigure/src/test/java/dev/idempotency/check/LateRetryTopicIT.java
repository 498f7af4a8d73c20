package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

class LateRetryTopicIT extends ApplicationTest {

    @Test
    void aListenerWithRetryTopicsIsRefusedWhenItIsCreatedLate() {
        try (TestApplication app = start(Listeners.class)) {
            assertThatThrownBy(() -> app.bean(Late.class)).rootCause().hasMessageContaining("late-retry-topic");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Effects.class)
    static class Listeners {

        @Bean
        TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        @Lazy
        Late late(Effects effects) {
            return new Late(effects);
        }
    }

    static class Late {

        private final Effects effects;

        Late(Effects effects) {
            this.effects = effects;
        }

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 50))
        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
