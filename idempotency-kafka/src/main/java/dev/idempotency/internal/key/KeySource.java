package dev.idempotency.internal.key;

import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.key.MessageKeyResolver;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ObjectUtils;

/** Where a listener's keys come from; its text form names the place in error messages and in the start-up log. */
public interface KeySource {

    /** The record's own coordinates; a copy has others. */
    KeySource OFFSET =
            new OfRecord("the offset", record -> KafkaCoordinates.of(record).toString());

    /** Returns the key of a message, or {@code null} if it has none. */
    @Nullable
    String keyOf(MessageView message);

    /** Returns the variables of the converted message that it needs; none if the record is enough. */
    default Set<String> variables() {
        return Set.of();
    }

    /** The coordinates of a record or its original, for messages that are recognised by something else. */
    static KeySource coordinates(String recognisedBy) {
        return new OfRecord(
                recognisedBy, record -> KafkaCoordinates.original(record).toString());
    }

    /** Asks a resolver, which looks at nothing but the record. */
    static KeySource of(MessageKeyResolver resolver) {
        String text = resolver.toString();
        boolean nameless = text.equals(ObjectUtils.identityToString(resolver));
        return new OfRecord(nameless ? resolver.getClass().getName() : text, resolver::resolveKey);
    }

    record OfRecord(String name, Function<ConsumerRecord<?, ?>, @Nullable String> keys) implements KeySource {

        @Override
        public @Nullable String keyOf(MessageView message) {
            return this.keys.apply(message.record());
        }

        @Override
        public String toString() {
            return this.name;
        }
    }
}
