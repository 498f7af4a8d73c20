package dev.idempotency.inbox;

import dev.idempotency.IdempotentListener;
import dev.idempotency.MessageId;
import dev.idempotency.OperatorActionException;
import dev.idempotency.job.Page;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages that listeners with {@link IdempotentListener#inbox()} were called with: to be looked at, and to be replayed.
 *
 * <p>A replay sends the record to its topic again, so that it takes the ordinary path with all its guarantees: consumers that
 * have processed the message drop it. All groups that read the topic see it.
 */
public interface Inbox {

    /**
     * A page of the messages that fit the query, the last changed first. Messages that change between two pages move to the
     * first one.
     *
     * @throws IllegalArgumentException if the query continues after something that no page gave
     */
    Page<InboxEntry> find(InboxQuery query);

    /** One message with all that was received of it, or {@code null} if it is not in the inbox. */
    @Nullable
    InboxMessage find(MessageId id);

    /**
     * The statuses of messages, as far as they are in the inbox.
     *
     * @param ids ids of one consumer, a thousand at most
     */
    Map<MessageId, InboxStatus> statuses(Collection<MessageId> ids);

    /**
     * Sends a message that has not been processed, or was forgotten on purpose since, to its topic again.
     *
     * @throws OperatorActionException if it is not there, has been processed, is without its payload, or could not be sent
     */
    void replay(MessageId id);

    /**
     * Forgets that a message has been processed and sends it to its topic again: its effects will happen a second time.
     *
     * @throws OperatorActionException if it is not there, is without its payload, or could not be sent: then nothing is forgotten
     */
    void forgetAndReplay(MessageId id);

    /**
     * Sends all messages of a consumer that have failed, until now, to their topics again, in the order of their
     * records. One that is refused, such as one that is too large, is logged and does not keep the others from being sent.
     * Messages that have the id of another one are left out, as they would fail again.
     *
     * @throws OperatorActionException if one could not be sent and neither could the next; those before it were
     */
    ReplayResult replayFailed(String consumer);

    /**
     * The result of a replay of all failed messages of a consumer.
     *
     * @param sent how many were sent to their topics again
     * @param refused how many the broker or the producer refused, for reasons that are logged
     * @param withoutPayload how many could not be, as their payload was not kept
     */
    record ReplayResult(long sent, long refused, long withoutPayload) {}
}
