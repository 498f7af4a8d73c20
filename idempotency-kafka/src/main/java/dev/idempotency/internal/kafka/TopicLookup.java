package dev.idempotency.internal.kafka;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Asks brokers about topics, connected as the listeners' consumers are: one client per cluster, created when first needed. */
public class TopicLookup implements AutoCloseable {

    private final Map<BrokerConnection, BrokerQueries> clusters = new HashMap<>();
    private boolean closed;

    public Uuid topicId(BrokerConnection connection, String topic) {
        return queries(connection).requireTopicId(topic);
    }

    public long endOffset(BrokerConnection connection, TopicPartition partition) {
        return queries(connection).endOffset(partition);
    }

    private synchronized BrokerQueries queries(BrokerConnection connection) {
        if (this.closed) {
            throw new IllegalStateException("The application is being closed");
        }
        return this.clusters.computeIfAbsent(
                connection, key -> new BrokerQueries(key, "topic-ids-" + (this.clusters.size() + 1)));
    }

    @Override
    public synchronized void close() {
        this.closed = true;
        this.clusters.values().forEach(BrokerQueries::close);
        this.clusters.clear();
    }
}
