package dev.idempotency;

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.Assert;

/**
 * The identity of what a listener is handling, for the code that it calls on its thread.
 *
 * <p>What a listener does outside its database is not undone with its transaction, and is repeated when the message is
 * redelivered. A key derived from the message's id is the same on every attempt, so that a service that supports
 * idempotency keys does it once. A step is recorded as soon as it is done, and not repeated by later attempts.
 */
public final class IdempotencyContext {

    static final ThreadLocal<@Nullable IdempotencyContext> CURRENT = new ThreadLocal<>();

    private static final long VERSION_BITS = 0xF000L;
    private static final long TIME_BITS = 0xFFFF_FFFF_FFFF_0000L;

    final String sending;
    final List<? extends @Nullable MessageId> messageIds;
    final @Nullable StepRunner steps;

    /** Counts for all that are open within it, so that two of them for one message never give the same id. */
    final IdempotencyContext outermost;

    /** How often a record was sent, or a step taken. */
    private final Map<Object, Integer> counts = new HashMap<>();

    /** Runs the steps of a consumer's messages. Internal. */
    @FunctionalInterface
    public interface StepRunner {

        /**
         * Returns the recorded result of a step, or calls it and records what it returns; {@code type} is {@code null} for a
         * step that is announced first and never called twice.
         */
        @Nullable
        Object run(MessageId id, String name, @Nullable Type type, Supplier<? extends @Nullable Object> call);
    }

    IdempotencyContext(
            String sending,
            List<? extends @Nullable MessageId> messageIds,
            @Nullable StepRunner steps,
            @Nullable IdempotencyContext outer) {
        this.sending = sending;
        this.steps = steps;
        this.outermost = (outer != null) ? outer.outermost : this;
        this.messageIds = messageIds;
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

    /** Number of messages that the listener was called with. */
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
     * The id of the message at an index of the listener's list.
     *
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
        return digest(messageId(), List.of(purpose)).toString();
    }

    /** The same for the message at an index of the listener's list. */
    public String deriveKey(int index, String purpose) {
        return digest(messageId(index), List.of(purpose)).toString();
    }

    /**
     * Calls something outside the database, and records its result as soon as it returns, in a separate transaction: a later
     * attempt of the same message gets the recorded result without the call. An attempt that ends between the call and the
     * record, such as by a crash, leaves no record, and the next one calls again, with the same key.
     *
     * @param name once per message, such as {@code charge}
     * @param type the type of the result, which is recorded as JSON
     * @param call gets the key for the callee, which is {@link #deriveKey(String) derived} from the step's name
     * @throws IllegalStateException if the message's claim is not held, the pool has one connection, or the name was used
     */
    public <T extends @Nullable Object> T step(String name, Class<T> type, Function<String, ? extends T> call) {
        return take(messageId(), name, Objects.requireNonNull(type), call);
    }

    /** The same for the message at an index of the listener's list. */
    public <T extends @Nullable Object> T step(
            int index, String name, Class<T> type, Function<String, ? extends T> call) {
        return take(messageId(index), name, Objects.requireNonNull(type), call);
    }

    /**
     * Calls something outside the database that must not happen twice: the intention is committed before the call, and the
     * outcome after it. A later attempt of the same message does not call again.
     *
     * @throws UnknownOutcomeException if an earlier attempt has ended before the outcome was recorded, or the call throws, which
     *     does not prove that nothing happened: the message is not retried
     */
    public void stepAtMostOnce(String name, Runnable call) {
        takeAtMostOnce(messageId(), name, call);
    }

    /** The same for the message at an index of the listener's list. */
    public void stepAtMostOnce(int index, String name, Runnable call) {
        takeAtMostOnce(messageId(index), name, call);
    }

    private void takeAtMostOnce(MessageId id, String name, Runnable call) {
        take(id, name, null, key -> {
            call.run();
            return null;
        });
    }

    @SuppressWarnings("unchecked") // A result is read as what it is asked for, as the caller's cast will tell.
    private <T extends @Nullable Object> T take(
            MessageId id, String name, @Nullable Type type, Function<String, ? extends T> call) {
        Assert.state(
                this.steps != null,
                () ->
                        "Step '%s' was not taken for consumer '%s': a step needs a claim that is held while the listener runs. Use DeduplicationStrategy.MESSAGE_ID, claimAtCommit = \"false\" and the provided ProcessedMessageStore, and take steps before a reply is sent."
                                .formatted(name, id.consumer()));
        Assert.state(
                count(List.of(id, name)) == 1,
                () ->
                        "Step '%s' was already taken for %s, and a later attempt could not tell the two apart. Give each call another name, as in 'charge/' + line."
                                .formatted(name, id));
        String key = digest(id, List.of(name)).toString();
        return (T) this.steps.run(id, name, type, () -> call.apply(key));
    }

    int count(Object sentOrTaken) {
        return this.counts.merge(sentOrTaken, 1, Integer::sum);
    }

    /** The digest of a message and a purpose, of version 8. Other parts, or as many in another order, are another purpose. */
    static UUID digest(MessageId id, List<String> purpose) {
        MessageDigest digest = MessageId.sha256();
        Stream.concat(Stream.of(id.consumer(), id.value()), purpose.stream()).forEach(part -> {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
            digest.update(bytes);
        });
        ByteBuffer hash = ByteBuffer.wrap(digest.digest());
        long version8 = (hash.getLong() & ~VERSION_BITS) | 0x8000L;
        long variant = (hash.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(version8, variant);
    }

    /** The digest with version 7 and the message's own time, if its id is a UUID of version 7: so both stand in an index alike. */
    static UUID timeOrdered(MessageId id, UUID digest) {
        String message = id.value();
        if (message.length() != 36 || message.charAt(14) != '7') {
            return digest;
        }
        try {
            long time = UUID.fromString(message).getMostSignificantBits() & TIME_BITS;
            long rest = digest.getMostSignificantBits() & ~TIME_BITS & ~VERSION_BITS;
            return new UUID(time | 0x7000L | rest, digest.getLeastSignificantBits());
        } catch (IllegalArgumentException ex) {
            return digest;
        }
    }
}
