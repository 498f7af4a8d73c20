package dev.idempotency.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.IdempotentConsumer;
import dev.idempotency.IdempotentListener;
import dev.idempotency.IdempotentOperations;
import dev.idempotency.MessageId;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.Effects;
import dev.idempotency.app.HasEffects;
import dev.idempotency.app.TestApplication;
import dev.idempotency.internal.check.ListenerChecks;
import dev.idempotency.internal.retention.CleanupSchedule;
import dev.idempotency.reconciliation.Reconciliation;
import dev.idempotency.redrive.DeadLetters;
import dev.idempotency.retention.Cleanup;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;

/** Parent and child contexts, and lazy initialization. */
class ContextsIT extends ApplicationTest {

    @Test
    void whereBeansAreLazyAListenerIsProtectedCheckedAndCleanedUpAllTheSame() {
        List<String> lazy = List.of(
                "spring.main.lazy-initialization=true",
                // Lazy connections: supported since Spring Boot 4.1, ignored before.
                "spring.datasource.connection-fetch=lazy");
        try (TestApplication app = start(lazy, Listener.class)) {
            assertThat(app.context().getBeanFactory().getSingletonNames())
                    .contains("idempotencyListenerChecks", "idempotencyCleanupSchedule");
            assertThat(app.bean(ListenerChecks.class).isRunning()).isTrue();
            assertThat(app.bean(CleanupSchedule.class).isRunning()).isTrue();
            assertAppliedOnce(app);
        }
    }

    @Test
    void aChildContextProtectsItsListenersCleansUpAfterThemAndKnowsItsConsumers() {
        try (TestApplication parent = start();
                ConfigurableApplicationContext child = new SpringApplicationBuilder(Child.class)
                        .parent(parent.context())
                        .web(WebApplicationType.NONE)
                        .run()) {
            assertAppliedOnce(parent);
            parent.jdbc().update("""
                    insert into idempotency_processed
                        (consumer_id, message_id, processed_at, record_topic, record_partition, record_offset)
                    values ('listener', 'old', now() - interval '8 days', 'topic', 0, 0),
                        ('listener', 'newer', now() - interval '3 days', 'topic', 0, 0)
                    """);
            child.getBean(Cleanup.class).run();
            assertThat(parent.jdbc().queryForList("select message_id from idempotency_processed", String.class))
                    .containsExactlyInAnyOrder("1", "newer");
            assertThat(child.getBean(DeadLetters.class).consumers()).containsExactly("listener");
            assertThat(child.getBean(Reconciliation.class).consumers()).containsExactly("listener");
            assertThat(child.getBean(IdempotentOperations.class)
                            .execute(new MessageId("declared", "1"), () -> {})
                            .duplicate())
                    .isFalse();
        }
    }

    private void assertAppliedOnce(TestApplication app) {
        app.send(this.topic, "1", "a");
        app.send(this.topic, "1", "a");
        app.awaitCaughtUp(this.group, this.topic);
        assertThat(app.bean(Effects.class).all()).containsExactly("a");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableKafka
    @Import(Listener.class)
    static class Child {

        @Bean
        IdempotentConsumer declared() {
            return IdempotentConsumer.named("declared");
        }
    }

    @Lazy(false)
    static class Listener extends HasEffects {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener("listener")
        void on(String payload) {
            this.effects.happen(payload);
        }
    }
}
