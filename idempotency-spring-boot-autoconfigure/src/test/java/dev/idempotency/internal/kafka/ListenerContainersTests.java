package dev.idempotency.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.DefaultBatchToRecordAdapter;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.util.ClassUtils;

class ListenerContainersTests {

    private final List<List<String>> calls = new ArrayList<>();

    public void on(List<String> payloads) {
        this.calls.add(payloads);
    }

    @Test
    void aBatchListenerIsNotCalledPerRecord() {
        Method method = ClassUtils.getMethod(ListenerContainersTests.class, "on", List.class);
        DefaultMessageHandlerMethodFactory methods = new DefaultMessageHandlerMethodFactory();
        methods.afterPropertiesSet();
        var adapter = new BatchMessagingMessageListenerAdapter<String, String>(this, method);
        adapter.setHandlerMethod(new HandlerAdapter(methods.createInvocableHandlerMethod(this, method)));
        adapter.setBatchToRecordAdapter(new DefaultBatchToRecordAdapter<>());
        ContainerProperties properties = new ContainerProperties("topic");
        properties.setMessageListener(adapter);

        ListenerContainers.removeBatchToRecordAdapter(
                new KafkaMessageListenerContainer<>(new DefaultKafkaConsumerFactory<>(Map.of()), properties));

        adapter.onMessage(
                List.of(new ConsumerRecord<>("topic", 0, 0, "k", "a"), new ConsumerRecord<>("topic", 0, 1, "k", "b")),
                null,
                null);
        assertThat(this.calls).containsExactly(List.of("a", "b"));
    }
}
