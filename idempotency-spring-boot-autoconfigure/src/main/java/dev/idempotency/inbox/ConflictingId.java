package dev.idempotency.inbox;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import org.jspecify.annotations.Nullable;

/**
 * The id under which a message is kept whose own is that of another one: its own, with its record behind it, so that it is
 * found beside the other, and the same however often it comes.
 */
final class ConflictingId {

    /** What no id of a message is likely to contain, and no URL has a meaning for. */
    static final String MARK = "~conflict:";

    private ConflictingId() {}

    static MessageId of(MessageId shared, RecordCoordinates coordinates) {
        String own = shared.value() + MARK + coordinates;
        return new MessageId(
                shared.consumer(), (own.length() <= MessageId.MAX_VALUE_LENGTH) ? own : digest(own, coordinates));
    }

    /** With the mark, too: by that it is known for what it is. */
    private static String digest(String own, RecordCoordinates coordinates) {
        String digest = MessageId.of("digest", own).value();
        return "%s%s%d@%d".formatted(digest, MARK, coordinates.partition(), coordinates.offset());
    }

    /** The id that a message shares with another one, or {@code null} if it has one of its own. */
    static @Nullable MessageId sharedBy(MessageId id) {
        int mark = id.value().lastIndexOf(MARK);
        return (mark > 0) ? new MessageId(id.consumer(), id.value().substring(0, mark)) : null;
    }
}
