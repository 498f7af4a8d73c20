package dev.idempotency.internal.listener;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * Leaves only some positions in a batch listener's arguments. Every list with one element per record is filtered and
 * copied: payloads, records, messages, headers, and the lists among the values of a header map.
 */
record BatchArguments(int records, int[] positions) {

    @Nullable
    Object[] filter(@Nullable Object[] arguments) {
        return Arrays.stream(arguments).map(this::filter).toArray();
    }

    private @Nullable Object filter(@Nullable Object argument) {
        if (argument instanceof List<?> list && list.size() == this.records) {
            List<@Nullable Object> kept = new ArrayList<>(this.positions.length);
            for (int position : this.positions) {
                kept.add(list.get(position));
            }
            return kept;
        }
        if (argument instanceof Message<?> message) {
            Object payload = filter(message.getPayload());
            return new GenericMessage<>(payload, new MessageHeaders(filterMap(message.getHeaders())));
        }
        if (argument instanceof MessageHeaders headers) {
            return new MessageHeaders(filterMap(headers));
        }
        return (argument instanceof Map<?, ?> map) ? filterMap(map) : argument;
    }

    private <K> Map<K, Object> filterMap(Map<K, ?> map) {
        Map<K, Object> filtered = new LinkedHashMap<>();
        map.forEach((name, value) -> filtered.put(name, (value instanceof List<?>) ? filter(value) : value));
        return filtered;
    }

    /** Whether a payload has one element per record, so that duplicates can be removed. */
    static boolean hasElements(@Nullable Object payload, int records) {
        Object content = (payload instanceof Message<?> message) ? message.getPayload() : payload;
        return content instanceof List<?> list && list.size() == records;
    }

    /** Returns the element of the record at a position, or the argument itself if it has no elements. */
    static @Nullable Object element(@Nullable Object argument, int position, int records) {
        Object content = (argument instanceof Message<?> message) ? message.getPayload() : argument;
        if (content instanceof List<?> list && list.size() == records) {
            return list.get(position);
        }
        if (content instanceof Map<?, ?> map) {
            Map<Object, @Nullable Object> elements = new LinkedHashMap<>();
            map.forEach((name, value) ->
                    elements.put(name, (value instanceof List<?>) ? element(value, position, records) : value));
            return elements;
        }
        return argument;
    }
}
