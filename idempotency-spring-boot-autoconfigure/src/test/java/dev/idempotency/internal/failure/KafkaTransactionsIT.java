package dev.idempotency.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.app.OfKind;
import dev.idempotency.app.SharedApplicationTest;
import dev.idempotency.app.SharedApplicationTest.ContainerFactory;
import dev.idempotency.testing.TestKafka;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.transaction.KafkaTransactionManager;

/** Transactional producers make containers transactional, too; that is switched off for protected listeners. */
@ExtendWith(OutputCaptureExtension.class)
class KafkaTransactionsIT extends SharedApplicationTest {

    @SuppressWarnings("removal") // Deprecated, but still in effect.
    @Test
    void onlyContainersOfProtectedListenersLoseTheirTransactions(CapturedOutput output) {
        start(
                Application.class,
                "spring.kafka.listener.auto-startup=false",
                "spring.kafka.producer.transaction-id-prefix=" + TestKafka.uniqueName("transaction"));
        assertThat(output).containsOnlyOnce("Kafka transactions are switched off");
        assertThat(this.app.bean(KafkaListenerEndpointRegistry.class).getAllListenerContainers())
                .extracting(MessageListenerContainer::getContainerProperties)
                .hasSize(3)
                .allSatisfy(properties -> {
                    boolean unprotected = "unprotected".equals(properties.getGroupId());
                    assertThat(properties.getKafkaAwareTransactionManager() != null)
                            .isEqualTo(unprotected);
                    assertThat(properties.getTransactionManager()).isNull();
                    assertThat(properties.isFixTxOffsets()).isFalse();
                });
    }

    static class Application {

        /** Spring Boot defines none in addition to the Kafka transaction manager. */
        @Bean
        @Primary
        static JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        @SuppressWarnings("removal") // Deprecated, but still in effect.
        static ContainerFactory deprecatedFactory(ContainerFactory plain, KafkaTransactionManager<?, ?> transactions) {
            plain.getContainerProperties().setTransactionManager(transactions);
            plain.getContainerProperties().setFixTxOffsets(true);
            return plain;
        }

        @OfKind("records")
        void records(String payload) {}

        @OfKind(value = "deprecated", containerFactory = "deprecatedFactory")
        void deprecated(String payload) {}

        @KafkaListener(topics = "unprotected", groupId = "unprotected")
        void unprotected(String payload) {}
    }
}
