package dev.idempotency.internal.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** Queries brokers for topics, for callers that wait for the answer. */
public final class BrokerQueries implements AutoCloseable {

    private static final Duration ANSWER = Duration.ofSeconds(10);

    private final Admin admin;

    public BrokerQueries(BrokerConnection connection, String purpose) {
        this.admin = connection.createAdmin(purpose, ANSWER, MetadataRecoveryStrategy.REBOOTSTRAP);
    }

    /** The id of a topic, or {@code null} if there is no such topic. */
    public @Nullable Uuid topicId(String topic) {
        TopicDescription found = describe(List.of(topic)).get(topic);
        return (found != null) ? found.topicId() : null;
    }

    /** The id of a topic; if there is none, a {@link KafkaException} has the brokers' reason as its cause. */
    Uuid requireTopicId(String topic) {
        return get(this.admin.describeTopics(List.of(topic)).topicNameValues().get(topic))
                .topicId();
    }

    long endOffset(TopicPartition partition) {
        return get(this.admin
                        .listOffsets(Map.of(partition, OffsetSpec.latest()))
                        .partitionResult(partition))
                .offset();
    }

    /** Returns the existing topics among these, by name. */
    public Map<String, TopicDescription> describe(Collection<String> topics) {
        Map<String, TopicDescription> found = new HashMap<>();
        this.admin.describeTopics(topics).topicNameValues().forEach((topic, answer) -> {
            try {
                found.put(topic, get(answer));
            } catch (KafkaException ex) {
                if (!(ex.getCause() instanceof UnknownTopicOrPartitionException
                        || ex.getCause() instanceof InvalidTopicException)) {
                    throw ex;
                }
            }
        });
        return found;
    }

    private static <T> T get(KafkaFuture<T> answer) {
        try {
            return answer.get(ANSWER.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException ex) {
            throw new KafkaException("The brokers do not tell: " + ex.getCause(), ex.getCause());
        } catch (TimeoutException ex) {
            throw new KafkaException("The brokers do not answer", ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new KafkaException("Interrupted while waiting for the brokers", ex);
        }
    }

    @Override
    public void close() {
        this.admin.close(Duration.ZERO);
    }
}
