package dev.idempotency.test;

import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.TopicLookup;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Answers in place of the broker while the tester delivers; otherwise delegates to the broker. */
final class LogTopicLookup extends TopicLookup {

    private final TopicLookup brokers;
    private final Map<String, Uuid> topicIds = new ConcurrentHashMap<>();

    LogTopicLookup(TopicLookup brokers) {
        this.brokers = brokers;
    }

    /** Returns the same id for a topic as long as the application runs. */
    @Override
    public Uuid topicId(BrokerConnection connection, String topic) {
        return (ContainerRun.current() != null)
                ? this.topicIds.computeIfAbsent(topic, name -> Uuid.randomUuid())
                : this.brokers.topicId(connection, topic);
    }

    /** Delivered records are never beyond the end of the log. */
    @Override
    public long endOffset(BrokerConnection connection, TopicPartition partition) {
        return (ContainerRun.current() != null) ? Long.MAX_VALUE : this.brokers.endOffset(connection, partition);
    }
}
