package dev.idempotency.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.testing.TestDatabase;
import dev.idempotency.testing.TestKafka;
import dev.idempotency.testing.TestPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
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
            try (Producer<String, String> producer = producer()) {
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

    /** Maven has packed the jars by now. Gradle runs this test beside its packing, and has {@link StarterTests}. */
    @Test
    void theJarOfTheStarterHasNoClasses() throws IOException {
        List<Path> jars = new ArrayList<>();
        if (Files.exists(Path.of("target"))) {
            try (var found = Files.newDirectoryStream(Path.of("target"), "*.jar")) {
                found.forEach(jars::add);
            }
        }
        assumeThat(jars).isNotEmpty();
        for (Path path : jars) {
            try (JarFile jar = new JarFile(path.toFile())) {
                assertThat(jar.stream().map(JarEntry::getName))
                        .as("entries of %s", path)
                        .contains("META-INF/MANIFEST.MF")
                        .noneMatch(name -> name.endsWith(".class"));
            }
        }
    }

    private static ProducerRecord<String, String> payment(String topic, String id) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, "payment " + id);
        record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private static Producer<String, String> producer() {
        return new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, TestKafka.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer());
    }
}
