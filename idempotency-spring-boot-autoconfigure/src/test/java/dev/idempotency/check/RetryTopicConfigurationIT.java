package dev.idempotency.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.TestApplication;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.retrytopic.RetryTopicConfiguration;
import org.springframework.kafka.retrytopic.RetryTopicConfigurationBuilder;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Retry topics that come from a bean, and not from an annotation. */
class RetryTopicConfigurationIT extends ApplicationTest {

    @Test
    void offsetsDoNotGoWithThem() {
        assertThatThrownBy(() -> start(ByOffset.class, Configured.class).close())
                .hasStackTraceContaining("does not go with strategy = Strategy.OFFSET: each attempt is another record");
    }

    @Test
    void norDoesATransactionPerPollWhereItIsTheDefault() {
        try (TestApplication app =
                start(List.of("idempotency.transaction-per-poll=true"), ById.class, Configured.class)) {
            app.send(this.topic, "1", "a");
            app.send(this.topic, "2", "fails once");
            app.send(this.topic, "3", "c");
            Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(
                            app.bean(Effects.class).all())
                    .containsExactly("a", "c", "fails once"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableKafkaRetryTopic
    @Import(Effects.class)
    static class Configured {

        @Bean
        static RetryTopicConfiguration retries(KafkaTemplate<?, ?> template, @Value("${topic}") String topic) {
            return RetryTopicConfigurationBuilder.newInstance()
                    .includeTopic(topic)
                    .maxAttempts(2)
                    .fixedBackOff(50)
                    .create(template);
        }

        @Bean
        TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }
    }

    static class ByOffset {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener(strategy = Strategy.OFFSET)
        void on(String payload) {}
    }

    static class ById {

        private final Effects effects;
        private boolean failed;

        ById(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.startsWith("fails") && !this.failed) {
                this.failed = true;
                throw new IllegalStateException(payload);
            }
        }
    }
}
