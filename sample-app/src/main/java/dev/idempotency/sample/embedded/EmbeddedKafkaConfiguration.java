package dev.idempotency.sample.embedded;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.common.utils.Exit;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/** A real Kafka broker on a free port, unless {@code spring.kafka.bootstrap-servers} names another one. */
@Configuration(proxyBeanMethods = false)
@Conditional(EmbeddedKafkaConfiguration.NoBrokerNamed.class)
class EmbeddedKafkaConfiguration {

    @Bean
    EmbeddedKafkaBroker embeddedKafka() {
        // Spring closes the broker, which deletes its files, after its clients. Kafka's hook would delete them earlier.
        Exit.setShutdownHookAdder((name, hook) -> {});
        return new QuietKafkaBroker();
    }

    @Bean
    KafkaConnectionDetails embeddedKafkaConnectionDetails(EmbeddedKafkaBroker broker) {
        return () -> List.of(broker.getBrokersAsString().split(","));
    }

    /** Suppresses output about the formatting of Kafka's storage, which goes to the console and not to the log. */
    private static final class QuietKafkaBroker extends EmbeddedKafkaKraftBroker {

        QuietKafkaBroker() {
            super(1, 1);
        }

        @Override
        public void afterPropertiesSet() {
            PrintStream console = System.out;
            System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
            try {
                super.afterPropertiesSet();
            } finally {
                System.setOut(console);
            }
        }
    }

    static class NoBrokerNamed extends NoneNestedConditions {

        NoBrokerNamed() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty("spring.kafka.bootstrap-servers")
        static class BrokerNamed {}
    }
}
