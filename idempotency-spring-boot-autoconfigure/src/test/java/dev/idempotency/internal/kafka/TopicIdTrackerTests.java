package dev.idempotency.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idempotency.RecordCoordinates;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;

class TopicIdTrackerTests {

    private final Broker broker = new Broker();
    private final TopicIdTracker tracker = new TopicIdTracker(
            this.broker,
            new KafkaMessageListenerContainer<>(
                    new DefaultKafkaConsumerFactory<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1")),
                    new ContainerProperties("topic")));

    private Uuid topicOf(int partition, long offset) {
        return this.tracker.topicIdOf(new RecordCoordinates("topic", partition, offset), offset);
    }

    @Test
    void whatIsKnownOfAPartitionHoldsWhileItsOffsetsGrow() {
        Uuid old = topicOf(0, 0);
        this.broker.id = Uuid.randomUuid();
        assertThat(topicOf(0, 1)).as("may still be held by the consumer").isEqualTo(old);
        assertThat(topicOf(1, 0)).isEqualTo(this.broker.id);
    }

    @Test
    void offsetsThatGoBackHaveTheBrokerAskedAgain() {
        topicOf(0, 7);
        this.broker.id = Uuid.randomUuid();
        assertThat(topicOf(0, 0)).isEqualTo(this.broker.id);
        assertThat(this.broker.questions).isEqualTo(2);
    }

    @Test
    void partitionsThatAreAssignedHaveTheBrokerAskedAgain() {
        topicOf(0, 7);
        this.broker.id = Uuid.randomUuid();
        this.tracker.assigned(List.of(new TopicPartition("topic", 0)));
        assertThat(topicOf(0, 8)).isEqualTo(this.broker.id);
    }

    private static class Broker extends TopicLookup {

        private Uuid id = Uuid.randomUuid();
        private int questions;

        @Override
        public Uuid topicId(BrokerConnection connection, String topic) {
            this.questions++;
            return this.id;
        }

        @Override
        public long endOffset(BrokerConnection connection, TopicPartition partition) {
            return 0;
        }
    }
}
