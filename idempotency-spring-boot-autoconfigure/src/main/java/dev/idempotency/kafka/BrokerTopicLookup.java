package dev.idempotency.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Asks the brokers, connected as the listeners' consumers are: one client per cluster, and none before it is needed. */
public final class BrokerTopicLookup implements TopicLookup, AutoCloseable {

    private static final int PATIENCE_MILLIS = 5_000;

    private final Map<BrokerConnection, Admin> admins = new HashMap<>();
    private boolean closed;

    @Override
    public Uuid topicId(BrokerConnection connection, String topic)
            throws ExecutionException, TimeoutException, InterruptedException {
        return admin(connection)
                .describeTopics(List.of(topic))
                .topicNameValues()
                .get(topic)
                .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                .topicId();
    }

    @Override
    public long endOffset(BrokerConnection connection, TopicPartition partition)
            throws ExecutionException, TimeoutException, InterruptedException {
        return admin(connection)
                .listOffsets(Map.of(partition, OffsetSpec.latest()))
                .partitionResult(partition)
                .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                .offset();
    }

    private synchronized Admin admin(BrokerConnection connection) {
        if (this.closed) {
            throw new IllegalStateException("The application is being closed");
        }
        return this.admins.computeIfAbsent(connection, this::create);
    }

    private Admin create(BrokerConnection connection) {
        Map<String, Object> settings = new HashMap<>(connection.settings());
        settings.put(AdminClientConfig.CLIENT_ID_CONFIG, "idempotency-topic-ids-" + (this.admins.size() + 1));
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, PATIENCE_MILLIS);
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, PATIENCE_MILLIS);
        // It stays silent where the consumer itself tells of a broker that is away.
        settings.put(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, PATIENCE_MILLIS);
        settings.put(AdminClientConfig.METRIC_REPORTER_CLASSES_CONFIG, "");
        settings.put(AdminClientConfig.ENABLE_METRICS_PUSH_CONFIG, false);
        return Admin.create(settings);
    }

    @Override
    public synchronized void close() {
        this.closed = true;
        this.admins.values().forEach(admin -> admin.close(Duration.ZERO));
        this.admins.clear();
    }
}
