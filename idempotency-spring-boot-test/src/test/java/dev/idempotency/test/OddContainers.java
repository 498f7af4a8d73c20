package dev.idempotency.test;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.test.TestedApplication.Effects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.PartitionOffset;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.CommonContainerStoppingErrorHandler;
import org.springframework.kafka.support.Acknowledgment;

/** Listeners whose containers are configured in unusual ways, and one with the strategy {@code VERSION}. */
@Configuration(proxyBeanMethods = false)
@Import({OddContainers.Listeners.class, OddContainers.Handlers.class})
class OddContainers {

    /** Stops the container at the first failure. */
    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> stoppingFactory(
            ConsumerFactory<String, String> consumerFactory) {
        ConcurrentKafkaListenerContainerFactory<String, String> factory =
                new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumerFactory);
        factory.setCommonErrorHandler(new CommonContainerStoppingErrorHandler());
        return factory;
    }

    static class Listeners {

        private final Effects effects;
        private final Set<String> retried = ConcurrentHashMap.newKeySet();

        Listeners(Effects effects) {
            this.effects = effects;
        }

        @KafkaListener(topics = "odd-stopping", groupId = "stopping", containerFactory = "stoppingFactory")
        @IdempotentListener("stopping")
        void stopping(ConsumerRecord<String, String> record) {
            throw new IllegalStateException("not today");
        }

        @KafkaListener(topics = "odd-timestamps", groupId = "timestamps")
        @IdempotentListener(consumer = "timestamps", key = "#record.value() + '/' + #record.timestamp()")
        void timestamps(ConsumerRecord<String, String> record) {
            this.effects.add("timestamps", record.value());
        }

        @KafkaListener(
                groupId = "assigned",
                topicPartitions = @TopicPartition(topic = "odd-assigned", partitions = "1"))
        @KafkaListener(
                groupId = "assigned",
                topicPartitions = @TopicPartition(topic = "odd-assigned", partitions = "2"))
        @IdempotentListener("assigned")
        void assigned(ConsumerRecord<String, String> record) {
            this.effects.add("assigned", record.value());
        }

        @KafkaListener(
                groupId = "late",
                topicPartitions =
                        @TopicPartition(
                                topic = "odd-late",
                                partitionOffsets = @PartitionOffset(partition = "0", initialOffset = "100")))
        @IdempotentListener("late")
        void late(ConsumerRecord<String, String> record) {
            this.effects.add("late", record.value());
        }

        @RetryableTopic(autoCreateTopics = "false")
        @KafkaListener(topics = "odd-retried", groupId = "retried")
        @IdempotentListener("retried")
        void retried(ConsumerRecord<String, String> record) {
            this.effects.add("retried", record.value());
            if (this.retried.add(record.value())) {
                throw new IllegalStateException("not yet");
            }
        }

        @KafkaListener(topics = "odd-versions", groupId = "versions")
        @IdempotentListener(
                consumer = "versions",
                strategy = DeduplicationStrategy.VERSION,
                key = "#record.key()",
                version = "T(Integer).parseInt(#record.value())")
        void version(ConsumerRecord<String, String> record) {
            this.effects.add("versions", record.key() + " " + record.value());
        }
    }

    /** A class of handlers for all topics that match a pattern. */
    @KafkaListener(topicPattern = "odd-handled-.*", groupId = "handlers", containerFactory = "manualFactory")
    @IdempotentListener("handlers")
    static class Handlers {

        private final Effects effects;

        Handlers(Effects effects) {
            this.effects = effects;
        }

        @KafkaHandler
        void onText(String payload, Acknowledgment acknowledgment) {
            this.effects.add("handlers", payload);
            acknowledgment.acknowledge();
        }
    }
}
