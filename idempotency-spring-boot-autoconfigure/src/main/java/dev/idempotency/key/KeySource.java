package dev.idempotency.key;

import dev.idempotency.RecordCoordinates;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where a listener's keys come from; its text form names the place in error messages and in the start-up log. */
@FunctionalInterface
public interface KeySource {

    /** The key of a message, or {@code null} if it has none. */
    @Nullable
    String keyOf(MessageView message);

    /** The record's own coordinates: those of a copy are others. */
    KeySource OFFSET = new KeySource() {

        @Override
        public String keyOf(MessageView message) {
            return RecordCoordinates.of(message.record()).toString();
        }

        @Override
        public String toString() {
            return "the offset";
        }
    };

    /** The variables that it needs of the converted message, {@code payload} or names of arguments: none, if the record will do. */
    default Set<String> variables() {
        return Set.of();
    }

    /**
     * The record's coordinates, where messages are recognised by something else and need no more than a name; those of a copy
     * are the original's.
     *
     * @param recognisedBy what they are recognised by
     */
    static KeySource coordinates(String recognisedBy) {
        return new KeySource() {

            @Override
            public String keyOf(MessageView message) {
                return RecordCoordinates.original(message.record()).toString();
            }

            @Override
            public String toString() {
                return recognisedBy;
            }
        };
    }

    /** Asks a resolver, which looks at nothing but the record. */
    static KeySource of(MessageKeyResolver resolver) {
        return new KeySource() {

            @Override
            public @Nullable String keyOf(MessageView message) {
                return resolver.resolveKey(message.record());
            }

            @Override
            public String toString() {
                return resolver.toString();
            }
        };
    }
}
