package dev.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The identity of what a listener is handling, for the code that it calls on its thread.
 *
 * <p>What a listener does outside its database is not undone with its transaction, and is done again when the message
 * comes again. A key derived from the message's id is the same on every attempt, so that a service that knows
 * idempotency keys does it once.
 */
public final class IdempotencyContext {

    private static final ThreadLocal<@Nullable IdempotencyContext> CURRENT = new ThreadLocal<>();

    /** Ends what {@link #open} began. */
    public interface Scope extends AutoCloseable {

        @Override
        void close();
    }

    private static final Scope END = () -> CURRENT.set(null);

    private final List<@Nullable MessageId> messageIds;

    private IdempotencyContext(List<? extends @Nullable MessageId> messageIds) {
        this.messageIds = (messageIds.size() == 1)
                ? Collections.singletonList(messageIds.get(0))
                : Collections.unmodifiableList(new ArrayList<>(messageIds));
    }

    /**
     * The context of the listener that is running on this thread.
     *
     * @throws IllegalStateException if none is
     */
    public static IdempotencyContext current() {
        IdempotencyContext current = CURRENT.get();
        if (current == null) {
            throw new IllegalStateException("No @IdempotentListener is running on this thread. Read the context in the"
                    + " listener, and hand on what other threads need.");
        }
        return current;
    }

    /** Begins a context on this thread. Called around the listener; an application has no need to. */
    public static Scope open(List<? extends @Nullable MessageId> messageIds) {
        IdempotencyContext outer = CURRENT.get();
        CURRENT.set(new IdempotencyContext(messageIds));
        return (outer != null) ? () -> CURRENT.set(outer) : END;
    }

    /** How many messages the listener was called with: one, or those of a batch that are no duplicates. */
    public int size() {
        return this.messageIds.size();
    }

    /**
     * The message's id.
     *
     * @throws IllegalStateException if it has none, or if the listener was called with several messages
     */
    public MessageId messageId() {
        if (this.messageIds.size() != 1) {
            throw new IllegalStateException("The listener was called with " + this.messageIds.size()
                    + " messages: name the one that is meant by its index");
        }
        return messageId(0);
    }

    /**
     * The id of one message of a batch.
     *
     * @param index the message's index in the listener's list
     * @throws IllegalStateException if it has none
     */
    public MessageId messageId(int index) {
        MessageId id = this.messageIds.get(index);
        if (id == null) {
            throw new IllegalStateException("The message at index " + index
                    + " has no id: it is processed without one, as idempotency.key.on-missing says");
        }
        return id;
    }

    /**
     * A key that is the same whenever this consumer handles this message, and different for every other purpose,
     * message and consumer.
     *
     * @param purpose what the key is for, such as {@code email}
     * @return a UUID
     */
    public String deriveKey(String purpose) {
        return deriveKey(messageId(), purpose);
    }

    /**
     * The same for one message of a batch.
     *
     * @param index the message's index in the listener's list
     * @param purpose what the key is for, such as {@code email}
     * @return a UUID
     */
    public String deriveKey(int index, String purpose) {
        return deriveKey(messageId(index), purpose);
    }

    private static String deriveKey(MessageId id, String purpose) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
        for (String part : List.of(id.consumer(), id.value(), purpose)) {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
            digest.update(bytes);
        }
        ByteBuffer hash = ByteBuffer.wrap(digest.digest());
        long version8 = (hash.getLong() & ~0xF000L) | 0x8000L;
        long variant = (hash.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(version8, variant).toString();
    }
}
