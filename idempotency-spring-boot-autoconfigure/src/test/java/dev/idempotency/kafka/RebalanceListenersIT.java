package dev.idempotency.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import dev.idempotency.IdempotentListener;
import dev.idempotency.app.ApplicationTest;
import dev.idempotency.app.TestApplication;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ContainerCustomizer;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;

/** Rebalance listeners of protected containers, beside that of the library. */
@ExtendWith(OutputCaptureExtension.class)
class RebalanceListenersIT extends ApplicationTest {

    private static final List<String> LOGGED =
            List.of("logging.level." + KafkaMessageListenerContainer.class.getName() + "=info");

    @AfterEach
    void logAsInOtherTests() {
        ((Logger) LoggerFactory.getLogger(KafkaMessageListenerContainer.class)).setLevel(null);
    }

    @Test
    void theApplicationsOwnHearsEverythingAndTheLogIsItsMatter(CapturedOutput output) {
        AwareListener heard;
        try (TestApplication app = start(LOGGED, Listener.class, AwareListener.class, Aware.class)) {
            heard = app.bean(AwareListener.class);
            Awaitility.await().until(() -> heard.news.all.contains("assigned"));
        }
        assertThat(heard.news.all).containsExactly("assigned", "revoked before commit", "revoked after commit");
        assertThat(output).doesNotContain(this.group + ": partitions assigned");
    }

    @Test
    void oneThatDoesNotKnowConsumersHearsOfPartitionsToo() {
        PlainListener heard;
        try (TestApplication app = start(Listener.class, PlainListener.class, Plain.class)) {
            heard = app.bean(PlainListener.class);
            Awaitility.await().until(() -> heard.news.all.contains("assigned"));
        }
        assertThat(heard.news.all).containsExactly("assigned", "revoked");
    }

    static class Listener {

        @KafkaListener(topics = "${topic}", groupId = "${group}")
        @IdempotentListener("rebalanced")
        void on(String payload) {}
    }

    static class Aware {

        @Bean
        ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> ownListener(
                AwareListener listener) {
            return container -> container.getContainerProperties().setConsumerRebalanceListener(listener);
        }
    }

    static class Plain {

        @Bean
        ContainerCustomizer<Object, Object, ConcurrentMessageListenerContainer<Object, Object>> ownListener(
                PlainListener listener) {
            return container -> container.getContainerProperties().setConsumerRebalanceListener(listener);
        }
    }

    /** What was heard of partitions. A group may be balanced, with none, before it has any. */
    private static final class News {

        private final List<String> all = new CopyOnWriteArrayList<>();

        void add(String what, Collection<TopicPartition> partitions) {
            if (!partitions.isEmpty()) {
                this.all.add(what);
            }
        }
    }

    static class AwareListener implements ConsumerAwareRebalanceListener {

        private final News news = new News();

        @Override
        public void onPartitionsAssigned(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
            this.news.add("assigned", partitions);
        }

        @Override
        public void onPartitionsRevokedBeforeCommit(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
            this.news.add("revoked before commit", partitions);
        }

        @Override
        public void onPartitionsRevokedAfterCommit(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
            this.news.add("revoked after commit", partitions);
        }
    }

    static class PlainListener implements ConsumerRebalanceListener {

        private final News news = new News();

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            this.news.add("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            this.news.add("revoked", partitions);
        }
    }
}
