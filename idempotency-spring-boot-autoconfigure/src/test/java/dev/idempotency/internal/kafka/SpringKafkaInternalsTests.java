package dev.idempotency.internal.kafka;

import static dev.idempotency.app.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.FilteringBatchMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.FilteringMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.util.backoff.FixedBackOff;

/** All that is read is there in this version of Spring Kafka: of some of it nothing else would notice the lack. */
class SpringKafkaInternalsTests {

    @Test
    void theFilterOfAListener() {
        RecordFilterStrategy<String, String> filter = record -> true;
        MessageListener<String, String> single = record -> {};
        assertThat(SpringKafkaInternals.filterOf(new FilteringMessageListenerAdapter<>(single, filter)))
                .isSameAs(filter);
        assertThat(SpringKafkaInternals.filterOf(new FilteringBatchMessageListenerAdapter<>(
                        (List<ConsumerRecord<String, String>> records) -> {}, filter)))
                .isSameAs(filter);
    }

    @Test
    void whetherAnErrorHandlerRecovers() {
        FixedBackOff backOff = new FixedBackOff(1, 1);
        DefaultErrorHandler recovering = new DefaultErrorHandler((record, failure) -> {}, backOff);
        assertThat(SpringKafkaInternals.hasNoRecoverer(recovering)).isFalse();
        assertThat(SpringKafkaInternals.hasNoRecoverer(new DefaultErrorHandler(backOff)))
                .isTrue();
    }

    @Test
    void aVersionThatLacksAMemberIsRefusedWithThatMember() {
        assertThrown(
                IllegalStateException.class,
                () -> SpringKafkaInternals.read(String.class, "missing", ""),
                "does not work with Spring Kafka",
                "has no field 'missing' in java.lang.String");
    }
}
