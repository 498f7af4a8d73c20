package dev.idempotency.listener;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * Leaves in a batch listener's arguments nothing but the records at some positions.
 *
 * <p>Whatever has one element a record is filtered alike: payloads, records, messages, header lists, and the lists among
 * the values of a header map.
 */
final class BatchArguments {

    private final List<? extends ConsumerRecord<?, ?>> records;
    private final int[] positions;

    BatchArguments(List<? extends ConsumerRecord<?, ?>> records, int[] positions) {
        this.records = records;
        this.positions = positions;
    }

    @Nullable
    Object[] filter(@Nullable Object[] arguments) {
        @Nullable Object[] filtered = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            filtered[i] = filter(arguments[i]);
        }
        return filtered;
    }

    private @Nullable Object filter(@Nullable Object argument) {
        if (argument instanceof List<?> list && list.size() == this.records.size()) {
            return filterList(list);
        }
        if (argument instanceof Object[] array && array.length == this.records.size()) {
            return filterArray(array);
        }
        if (argument instanceof ConsumerRecords<?, ?> consumerRecords) {
            return filterRecords(consumerRecords);
        }
        if (argument instanceof Message<?> message) {
            Object payload = filter(message.getPayload());
            return new GenericMessage<>(payload, filterHeaders(message.getHeaders()));
        }
        if (argument instanceof MessageHeaders headers) {
            return filterHeaders(headers);
        }
        if (argument instanceof Map<?, ?> map) {
            return filterMap(map);
        }
        return argument;
    }

    private List<@Nullable Object> filterList(List<?> list) {
        List<@Nullable Object> kept = new ArrayList<>(this.positions.length);
        for (int position : this.positions) {
            kept.add(list.get(position));
        }
        return kept;
    }

    private @Nullable Object[] filterArray(@Nullable Object[] array) {
        @Nullable Object[] kept = Arrays.copyOf(array, this.positions.length);
        for (int i = 0; i < kept.length; i++) {
            kept[i] = array[this.positions[i]];
        }
        return kept;
    }

    private <K, V> ConsumerRecords<K, V> filterRecords(ConsumerRecords<K, V> all) {
        Set<ConsumerRecord<?, ?>> kept = new HashSet<>();
        for (int position : this.positions) {
            kept.add(this.records.get(position));
        }
        Map<TopicPartition, List<ConsumerRecord<K, V>>> byPartition = new LinkedHashMap<>();
        for (TopicPartition partition : all.partitions()) {
            List<ConsumerRecord<K, V>> remaining =
                    all.records(partition).stream().filter(kept::contains).toList();
            if (!remaining.isEmpty()) {
                byPartition.put(partition, remaining);
            }
        }
        return new ConsumerRecords<>(byPartition, all.nextOffsets());
    }

    private MessageHeaders filterHeaders(MessageHeaders headers) {
        Map<String, Object> filtered = new LinkedHashMap<>();
        headers.forEach((name, value) -> filtered.put(name, filterValue(value)));
        return new MessageHeaders(filtered);
    }

    private Map<Object, @Nullable Object> filterMap(Map<?, ?> map) {
        Map<Object, @Nullable Object> filtered = new LinkedHashMap<>();
        map.forEach((name, value) -> filtered.put(name, filterValue(value)));
        return filtered;
    }

    private Object filterValue(Object value) {
        return (value instanceof List<?> list && list.size() == this.records.size()) ? filterList(list) : value;
    }
}
