package dev.idempotency.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

class StarterIT {

    @Test
    void anApplicationOfTwoClassesWithTheStarterAloneStartsAndConsumesEachMessageOnce() {
        String topic = TestKafka.createTopic("payments", 1);
        try (TestDatabase database = TestPostgres.createDatabase();
                ConfigurableApplicationContext application = SpringApplication.run(
                        PaymentsApplication.class,
                        "--spring.datasource.url=" + database.jdbcUrl(),
                        "--spring.kafka.bootstrap-servers=" + TestKafka.bootstrapServers(),
                        "--spring.kafka.consumer.group-id=" + TestKafka.uniqueName("starter"),
                        "--spring.kafka.consumer.auto-offset-reset=earliest",
                        "--payments.topic=" + topic)) {
            Map<String, Object> brokers = Map.of("bootstrap.servers", TestKafka.bootstrapServers());
            try (KafkaProducer<String, String> producer =
                    new KafkaProducer<>(brokers, new StringSerializer(), new StringSerializer())) {
                producer.send(payment(topic, "1"));
                producer.send(payment(topic, "1"));
                producer.send(payment(topic, "2"));
            }

            JdbcClient jdbc = application.getBean(JdbcClient.class);
            await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(jdbc.sql("select text from payment")
                            .query(String.class)
                            .list())
                    .containsExactly("payment 1", "payment 2"));
        }
    }

    private static ProducerRecord<String, String> payment(String topic, String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, "payment " + id);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        return record;
    }
}
