package dev.idempotency.listener;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * Leaves in a batch listener's arguments nothing but the records at some positions. Lists and arrays are copied, even if
 * that is all of them.
 *
 * <p>Whatever has one element a record is filtered alike: payloads, records, messages, lists and arrays of headers, and
 * the lists among the values of a header map.
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
        if (isParallel(argument, this.records.size())) {
            return (argument instanceof List<?> list) ? filterList(list) : filterArray(argument);
        }
        if (argument instanceof Optional<?> optional) {
            return optional.map(this::filter);
        }
        if (argument instanceof ConsumerRecords<?, ?> consumerRecords) {
            return isOfAll() ? consumerRecords : filterRecords(consumerRecords);
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

    /** Whether nothing is left out. */
    private boolean isOfAll() {
        return this.positions.length == this.records.size();
    }

    private List<@Nullable Object> filterList(List<?> list) {
        List<@Nullable Object> kept = new ArrayList<>(this.positions.length);
        for (int position : this.positions) {
            kept.add(list.get(position));
        }
        return kept;
    }

    private Object filterArray(Object array) {
        Object kept = Array.newInstance(array.getClass().getComponentType(), this.positions.length);
        for (int i = 0; i < this.positions.length; i++) {
            Array.set(kept, i, Array.get(array, this.positions[i]));
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
        return isOfAll() ? headers : new MessageHeaders(filterMap(headers));
    }

    private <K> Map<K, Object> filterMap(Map<K, ?> map) {
        Map<K, Object> filtered = new LinkedHashMap<>();
        map.forEach((name, value) -> filtered.put(
                name,
                (value instanceof List<?> list && isParallel(list, this.records.size())) ? filterList(list) : value));
        return filtered;
    }

    /** Whether a payload has one element per record, so that duplicates can be taken out. */
    static boolean hasElements(@Nullable Object payload, int size) {
        Object content = (payload instanceof Message<?> message) ? message.getPayload() : payload;
        if (content instanceof Optional<?> optional) {
            content = optional.orElse(null);
        }
        return isParallel(content, size);
    }

    /** Whether an argument has one element per record. Bytes are one value. */
    private static boolean isParallel(@Nullable Object argument, int size) {
        if (argument instanceof List<?> list) {
            return list.size() == size;
        }
        return argument != null
                && argument.getClass().isArray()
                && !(argument instanceof byte[])
                && Array.getLength(argument) == size;
    }

    /** Returns the element of the record at a position, or the argument itself if it has no elements. */
    static @Nullable Object element(@Nullable Object argument, int position, int size) {
        Object content = (argument instanceof Message<?> message) ? message.getPayload() : argument;
        if (isParallel(content, size)) {
            return (content instanceof List<?> list) ? list.get(position) : Array.get(content, position);
        }
        if (content instanceof Optional<?> optional) {
            return optional.isPresent() ? element(optional.get(), position, size) : null;
        }
        if (content instanceof Map<?, ?> map) {
            Map<Object, @Nullable Object> elements = new LinkedHashMap<>();
            map.forEach((name, value) ->
                    elements.put(name, (value instanceof List<?>) ? element(value, position, size) : value));
            return elements;
        }
        return argument;
    }
}
