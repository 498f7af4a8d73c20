package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.IdempotentListener;
import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import dev.idempotency.app.TopicContents;
import dev.idempotency.testing.TestKafka;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** An application whose producers, and so its containers, have Kafka transactions: those of protected listeners lose them. */
@ExtendWith(OutputCaptureExtension.class)
class KafkaTransactionsIT extends SharedApplicationTest {

    @BeforeAll
    void start(CapturedOutput output) {
        createTopics(1, "records", "batches", "polls", "retried", "sent");
        start(
                Application.class,
                "spring.kafka.producer.transaction-id-prefix=" + TestKafka.uniqueName("transaction"),
                "idempotency.errors.max-attempts=3");
        // For the test, which sends outside of transactions: their markers would count as messages not caught up with.
        this.app.bean(KafkaTemplate.class).setAllowNonTransactional(true);
        assertThat(output).containsOnlyOnce("Kafka transactions are switched off");
    }

    @SuppressWarnings("removal") // Still in force where it is set.
    @Test
    void onlyContainersOfProtectedListenersLoseTheirTransactions() {
        assertThat(this.app.bean(KafkaListenerEndpointRegistry.class).getAllListenerContainers())
                .extracting(MessageListenerContainer::getContainerProperties)
                .hasSizeGreaterThan(5)
                .allSatisfy(properties -> {
                    boolean unprotected = "unprotected".equals(properties.getGroupId());
                    assertThat(properties.getKafkaAwareTransactionManager() != null)
                            .isEqualTo(unprotected);
                    assertThat(properties.getTransactionManager()).isNull();
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"batches", "retried"})
    void aMessageThatFailsForGoodIsDeadLetteredAndWhatTheOthersSendIsSent(String kind) {
        send(kind, kind + " a", kind + " poison", kind + " b");
        awaitCaughtUp(kind);
        assertThat(effectsOf(kind)).containsExactly(kind + " a", kind + " b");
        await().until(() -> TopicContents.values(topic(kind) + "-dlt").equals(List.of(kind + " poison")));
        assertThat(TopicContents.values(topic("sent"))).contains(kind + " a", kind + " b");
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Listeners.class)
    static class Application {

        /** Spring Boot defines none beside the one of Kafka. */
        @Bean
        @Primary
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        TaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        @SuppressWarnings("removal") // Still in force where it is set.
        ContainerFactory deprecatedFactory(ContainerFactory plain, KafkaTransactionManager<?, ?> transactions) {
            return plain.with(factory -> factory.getContainerProperties().setTransactionManager(transactions));
        }
    }

    static class Listeners extends ListenersOfKinds {

        private final KafkaTemplate<Object, Object> template;
        private final String sent;

        Listeners(KafkaTemplate<Object, Object> template, @Value("sent${suffix}") String sent) {
            this.template = template;
            this.sent = sent;
        }

        @Override
        void on(String payload) {
            this.effects.happen(payload);
            if (payload.endsWith("poison")) {
                throw new IllegalStateException("on purpose");
            }
            this.template.send(this.sent, payload);
        }

        @KafkaListener(
                topics = "deprecated",
                groupId = "deprecated",
                containerFactory = "deprecatedFactory",
                autoStartup = "false")
        @IdempotentListener("deprecated")
        void deprecated(String payload) {}

        @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 50))
        @OfKind("retried")
        void retried(String payload) {
            on(payload);
        }

        @KafkaListener(topics = "unprotected", groupId = "unprotected", autoStartup = "false")
        void unprotected(String payload) {}
    }
}
