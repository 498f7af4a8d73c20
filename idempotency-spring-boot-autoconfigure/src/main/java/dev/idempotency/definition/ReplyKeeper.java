package dev.idempotency.definition;

import dev.idempotency.MessageId;
import dev.idempotency.ResultForgottenException;
import dev.idempotency.result.KeptResults;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the replies of a listener, to give them again to duplicates of their requests.
 *
 * @param results where they are kept
 * @param type what the listener returns
 */
public record ReplyKeeper(KeptResults results, Type type) {

    private static final Logger logger = LoggerFactory.getLogger(ReplyKeeper.class);

    /** Keeps a reply in the current transaction, and returns it as duplicates will be given it. */
    public @Nullable Object keep(MessageId id, @Nullable Object reply) {
        return this.results.keep(id, this.type, reply);
    }

    /** The reply to the first delivery, or {@code null} if there was none or it is not kept, or no longer. */
    public @Nullable Object find(MessageId id) {
        try {
            return this.results.get(id, this.type);
        } catch (ResultForgottenException ex) {
            logger.warn("A duplicate of {} is not answered: {}", id, ex.getMessage());
            return null;
        }
    }
}
