package dev.idempotency.test;

import dev.idempotency.internal.kafka.BrokerConnection;
import dev.idempotency.internal.kafka.TopicLookup;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Answers in the place of a broker where the tester delivers; anywhere else the broker is asked. */
final class LogTopicLookup extends TopicLookup {

    private final TopicLookup brokers;
    private final Map<String, Uuid> topicIds = new ConcurrentHashMap<>();

    LogTopicLookup(TopicLookup brokers) {
        this.brokers = brokers;
    }

    /** The id that the topic of this name has for as long as the application is there. */
    @Override
    public Uuid topicId(BrokerConnection connection, String topic) {
        return (ContainerRun.current() != null)
                ? this.topicIds.computeIfAbsent(topic, name -> Uuid.randomUuid())
                : this.brokers.topicId(connection, topic);
    }

    /** No record that is delivered here has ever been lost at the end of a log. */
    @Override
    public long endOffset(BrokerConnection connection, TopicPartition partition) {
        return (ContainerRun.current() != null) ? Long.MAX_VALUE : this.brokers.endOffset(connection, partition);
    }
}
