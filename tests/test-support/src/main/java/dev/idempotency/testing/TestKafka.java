package dev.idempotency.testing;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * The Kafka broker of this JVM's tests; each test uses separate topics.
 *
 * <p>An embedded KRaft broker, unless the environment variable {@value #SERVERS_VARIABLE} names another one.
 */
public final class TestKafka {

    static final String SERVERS_VARIABLE = "IDEMPOTENCY_TEST_KAFKA_BOOTSTRAP_SERVERS";

    private TestKafka() {}

    /** Returns the addresses to connect to. */
    public static String bootstrapServers() {
        return Server.BOOTSTRAP_SERVERS;
    }

    /** Creates a topic with a unique name, which begins with the prefix, and returns the name. */
    public static String createTopic(String prefix, int partitions) {
        String topic = uniqueName(prefix);
        createTopics(partitions, topic);
        return topic;
    }

    /** Creates topics with the given names. */
    public static void createTopics(int partitions, String... topics) {
        List<NewTopic> newTopics = List.of(topics).stream()
                .map(topic -> new NewTopic(topic, partitions, (short) 1))
                .toList();
        try {
            sharedAdmin().createTopics(newTopics).all().get(30, TimeUnit.SECONDS);
            awaitKnown(List.of(topics));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        } catch (ExecutionException | TimeoutException ex) {
            throw new IllegalStateException("Could not create the topics " + List.of(topics), ex);
        }
    }

    /** Waits until the broker knows the topics: the controller responds earlier, and the broker would deny that they exist. */
    private static void awaitKnown(List<String> topics)
            throws InterruptedException, ExecutionException, TimeoutException {
        long start = System.nanoTime();
        while (!sharedAdmin().listTopics().names().get(30, TimeUnit.SECONDS).containsAll(topics)) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(30)) {
                throw new TimeoutException("The broker has not heard of them");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** An admin client for the broker. */
    public static Admin admin() {
        return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers()));
    }

    /** Returns the admin client that all tests of this JVM share, as starting one is slow. Must not be closed. */
    public static Admin sharedAdmin() {
        return SharedAdmin.ADMIN;
    }

    /** Returns a unique name for a topic or a group. */
    public static String uniqueName(String prefix) {
        return prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
    }

    private static final class SharedAdmin {

        static final Admin ADMIN = admin();
    }

    private static final class Server {

        static final String BOOTSTRAP_SERVERS = start();

        private static String start() {
            @Nullable String external = System.getenv(SERVERS_VARIABLE);
            if (external != null && !external.isBlank()) {
                return external;
            }
            EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
            broker.brokerProperty("group.initial.rebalance.delay.ms", "0");
            // With the consumer protocol, members get new assignments with a heartbeat, by default every 5 s.
            broker.brokerProperty("group.consumer.min.heartbeat.interval.ms", "200");
            broker.brokerProperty("group.consumer.heartbeat.interval.ms", "200");
            broker.brokerProperty("auto.create.topics.enable", "true");
            broker.brokerProperty("transaction.state.log.replication.factor", "1");
            // By default, topics are compacted every 15 s.
            broker.brokerProperty("log.cleaner.backoff.ms", "200");
            broker.brokerProperty("transaction.state.log.min.isr", "1");
            // By default it sets spring.kafka.bootstrap-servers for every application in this JVM.
            broker.brokerListProperty("idempotency.test.kafka.bootstrap-servers");
            broker.afterPropertiesSet();
            Runtime.getRuntime().addShutdownHook(new Thread(broker::destroy, "test-kafka-shutdown"));
            return broker.getBrokersAsString();
        }
    }
}
