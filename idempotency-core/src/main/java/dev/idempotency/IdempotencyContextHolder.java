package dev.idempotency;

import dev.idempotency.IdempotencyContext.StepRunner;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Opens and closes the {@link IdempotencyContext} of a thread, and derives ids from it. Internal. */
public final class IdempotencyContextHolder {

    /** Ends what {@link #open} began. */
    public interface Scope extends AutoCloseable {

        @Override
        void close();
    }

    private static final Scope END = () -> IdempotencyContext.CURRENT.set(null);

    private IdempotencyContextHolder() {}

    /** Begins a context on this thread, with the steps of the one around it. */
    public static Scope open(List<? extends @Nullable MessageId> messageIds) {
        IdempotencyContext outer = IdempotencyContext.CURRENT.get();
        return open("record", messageIds, (outer != null) ? outer.steps : null);
    }

    /** Begins a context on this thread; {@code steps} is {@code null} where none can be taken. */
    public static Scope open(List<? extends @Nullable MessageId> messageIds, @Nullable StepRunner steps) {
        return open("record", messageIds, steps);
    }

    /** Begins a context like the current one, whose steps are run by another. For tests that simulate crashes. */
    public static Scope decorateSteps(UnaryOperator<StepRunner> decoration) {
        IdempotencyContext outer = IdempotencyContext.current();
        return open(outer.sending, outer.messageIds, (outer.steps != null) ? decoration.apply(outer.steps) : null);
    }

    /**
     * Begins a context in which the reply to a message is sent: the ids that it gives are not those that the listener gets,
     * and are the same when the reply is sent again.
     */
    public static Scope openForReply(MessageId messageId) {
        return open("reply", List.of(messageId), null);
    }

    private static Scope open(
            String sending, List<? extends @Nullable MessageId> messageIds, @Nullable StepRunner steps) {
        IdempotencyContext outer = IdempotencyContext.CURRENT.get();
        IdempotencyContext.CURRENT.set(new IdempotencyContext(sending, messageIds, steps, outer));
        return (outer != null) ? () -> IdempotencyContext.CURRENT.set(outer) : END;
    }

    /**
     * An id for a record that the listener is about to send: a function of the consumer, the message's id, topic and
     * content, and of how many equal records were sent before since the listener was called. So a record has the same id
     * on every attempt, and never the one of another record.
     *
     * @param content what tells the record from others in its topic; asked only if there is an id to derive
     * @return a UUID, or {@code null} if no listener runs on this thread, if it was called with several messages, any of
     *     which may be the reason for the record, or with one that has no id
     */
    public static @Nullable String nextRecordId(String topic, Supplier<List<String>> content) {
        IdempotencyContext current = IdempotencyContext.CURRENT.get();
        MessageId id = (current != null && current.messageIds.size() == 1) ? current.messageIds.get(0) : null;
        if (current == null || id == null) {
            return null;
        }
        List<String> purpose = new ArrayList<>(List.of(current.sending, topic));
        purpose.addAll(content.get());
        UUID record = IdempotencyContext.digest(id, purpose);
        int count = current.outermost.count(record);
        UUID ofCount = IdempotencyContext.digest(id, List.of(record.toString(), String.valueOf(count)));
        return IdempotencyContext.timeOrdered(id, ofCount).toString();
    }
}
