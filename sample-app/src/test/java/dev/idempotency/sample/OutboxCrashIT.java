package dev.idempotency.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idempotency.key.MessageIdHeader;
import dev.idempotency.sample.payment.Payment;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;
import org.springframework.kafka.test.utils.KafkaTestUtils;

/**
 * Publications through an outbox when the process crashes between the commit and the publication, or between the publication
 * and its mark in the outbox: they are published at least once, and applied once by the next consumer.
 */
class OutboxCrashIT {

    private static final List<TopicPartition> RECEIPTS = IntStream.range(0, 3)
            .mapToObj(partition -> new TopicPartition("receipts", partition))
            .toList();

    private final Path folder = Path.of("target");

    @BeforeAll
    static void letServersBeQuiet() {
        LoggingSystem logging = LoggingSystem.get(OutboxCrashIT.class.getClassLoader());
        logging.setLogLevel(LoggingSystem.ROOT_LOGGER_NAME, LogLevel.OFF);
    }

    @Test
    void whatWasCommittedIsPublishedAfterACrashAndAppliedOnceByTheNextConsumer() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(2))
                .start()) {
            EmbeddedKafkaBroker kafka = new EmbeddedKafkaKraftBroker(1, 1);
            kafka.adminTimeout(60);
            kafka.afterPropertiesSet();
            try {
                kafka.addTopics(new NewTopic(Payment.TOPIC, 3, (short) 1), new NewTopic("receipts", 3, (short) 1));
                pay(kafka, "first", "second");
                crashAndRestart(postgres, kafka);
            } finally {
                kafka.destroy();
                // The broker has set this property for all applications of this JVM.
                System.clearProperty("spring.kafka.bootstrap-servers");
            }
        }
    }

    private void crashAndRestart(EmbeddedPostgres postgres, EmbeddedKafkaBroker kafka) throws Exception {
        JdbcClient jdbc = JdbcClient.create(postgres.getPostgresDatabase());
        Path output = this.folder.resolve("outbox-crash.log");
        Process crashing = start(CrashingSample.class, output, postgres, kafka);
        boolean ended = crashing.waitFor(180, TimeUnit.SECONDS);
        crashing.destroyForcibly();
        assertThat(ended).as(() -> SampleJvm.read(output)).isTrue();
        assertThat(crashing.exitValue()).as(() -> SampleJvm.read(output)).isEqualTo(CrashingSample.CRASHED);
        assertThat(count(jdbc, "receipt")).as("committed").isEqualTo(2);
        assertThat(count(jdbc, "event_publication"))
                .as("not known to be published")
                .isEqualTo(2);
        assertThat(receipts(kafka)).as("published").hasSize(1);

        Process restarted = start(SampleApplication.class, this.folder.resolve("outbox-restart.log"), postgres, kafka);
        try {
            await().atMost(Duration.ofSeconds(120))
                    .failFast("The sample ended", () -> !restarted.isAlive())
                    .untilAsserted(() -> {
                        assertThat(receipts(kafka)).as("published").hasSize(3);
                        assertThat(count(jdbc, "event_publication"))
                                .as("to be published")
                                .isZero();
                        assertThat(read(kafka)).as("read by the next consumer").isEqualTo(3);
                    });
        } finally {
            restarted.destroy();
            restarted.waitFor(30, TimeUnit.SECONDS);
        }
        assertThat(receipts(kafka).stream().distinct()).as("different messages").hasSize(2);
        assertThat(count(jdbc, "notification")).as("applied").isEqualTo(2);
    }

    private static Process start(Class<?> main, Path output, EmbeddedPostgres postgres, EmbeddedKafkaBroker kafka)
            throws IOException {
        return SampleJvm.start(
                output,
                SampleJvm.RUNTIME_CLASS_PATH,
                List.of("-Dserver.port=0"),
                main.getName(),
                "--spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"),
                "--spring.kafka.bootstrap-servers=" + kafka.getBrokersAsString(),
                // The broker reserves the partitions of the crashed process until this timeout.
                "--spring.kafka.consumer.properties.session.timeout.ms=6000");
    }

    private static void pay(EmbeddedKafkaBroker kafka, String... ids) throws Exception {
        DefaultKafkaProducerFactory<String, String> factory = new DefaultKafkaProducerFactory<>(
                KafkaTestUtils.producerProps(kafka), new StringSerializer(), new StringSerializer());
        try {
            for (String id : ids) {
                String payment = "{\"id\": \"%s\", \"account\": \"Alice\", \"amount\": 12.00}".formatted(id);
                new KafkaTemplate<>(factory)
                        .send(MessageIdHeader.stamp(new ProducerRecord<>(Payment.TOPIC, "Alice", payment), id))
                        .get(30, TimeUnit.SECONDS);
            }
        } finally {
            factory.destroy();
        }
    }

    private static long count(JdbcClient jdbc, String table) {
        return jdbc.sql("select count(*) from " + table).query(Long.class).single();
    }

    /** The ids of all messages in the topic of receipts. */
    private static List<String> receipts(EmbeddedKafkaBroker kafka) {
        Map<String, Object> settings = new HashMap<>(KafkaTestUtils.consumerProps(kafka, "test", false));
        try (Consumer<String, String> consumer = new DefaultKafkaConsumerFactory<>(
                        settings, new StringDeserializer(), new StringDeserializer())
                .createConsumer()) {
            consumer.assign(RECEIPTS);
            consumer.seekToBeginning(RECEIPTS);
            long end = consumer.endOffsets(RECEIPTS).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            List<String> ids = new ArrayList<>();
            while (ids.size() < end) {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> ids.add(idOf(record)));
            }
            return ids;
        }
    }

    private static String idOf(ConsumerRecord<?, ?> record) {
        return new String(record.headers().lastHeader(MessageIdHeader.HEADER).value(), StandardCharsets.UTF_8);
    }

    /** The number of messages that the next consumer has read. */
    private static long read(EmbeddedKafkaBroker kafka) throws Exception {
        long read = 0;
        for (TopicPartition partition : RECEIPTS) {
            OffsetAndMetadata offset = KafkaTestUtils.getCurrentOffset(
                    kafka.getBrokersAsString(), "notifications", partition.topic(), partition.partition());
            read += (offset != null) ? offset.offset() : 0;
        }
        return read;
    }
}
