package dev.idempotency.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Asks the brokers, connected as the listeners' consumers are: one client per cluster, and none before it is needed. */
public final class BrokerTopicLookup implements TopicLookup, AutoCloseable {

    private static final Duration ANSWER = Duration.ofSeconds(5);

    private final Map<BrokerConnection, Admin> admins = new HashMap<>();
    private boolean closed;

    @Override
    public Uuid topicId(BrokerConnection connection, String topic)
            throws ExecutionException, TimeoutException, InterruptedException {
        return admin(connection)
                .describeTopics(List.of(topic))
                .topicNameValues()
                .get(topic)
                .get(ANSWER.toSeconds(), TimeUnit.SECONDS)
                .topicId();
    }

    @Override
    public long endOffset(BrokerConnection connection, TopicPartition partition)
            throws ExecutionException, TimeoutException, InterruptedException {
        return admin(connection)
                .listOffsets(Map.of(partition, OffsetSpec.latest()))
                .partitionResult(partition)
                .get(ANSWER.toSeconds(), TimeUnit.SECONDS)
                .offset();
    }

    private synchronized Admin admin(BrokerConnection connection) {
        if (this.closed) {
            throw new IllegalStateException("The application is being closed");
        }
        return this.admins.computeIfAbsent(
                connection, key -> key.createAdmin("topic-ids-" + (this.admins.size() + 1), ANSWER));
    }

    @Override
    public synchronized void close() {
        this.closed = true;
        this.admins.values().forEach(admin -> admin.close(Duration.ZERO));
        this.admins.clear();
    }
}
