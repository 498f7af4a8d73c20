package dev.idempotency.key;

import dev.idempotency.InvalidMessageKeyException;
import dev.idempotency.MissingMessageKeyException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.TopicUnknownException;
import dev.idempotency.Version;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * Finds the versions of one consumer's messages.
 *
 * @param consumer the consumer
 * @param source the expression for the version
 */
public record VersionResolver(String consumer, ExpressionKeySource source) {

    /**
     * The version of a message, which it must have: without one there is no saying whether it is newer, whatever becomes of
     * messages without a key.
     *
     * @throws MissingMessageKeyException if it has none
     * @throws InvalidMessageKeyException if it has one that does not compare exactly
     */
    public Version resolve(MessageView message) {
        Object value;
        try {
            value = this.source.valueOf(message);
            if (value != null && !KeyText.isBlank(value)) {
                return VersionReader.read(value);
            }
        } catch (TopicUnknownException ex) {
            throw ex;
        } catch (InvalidMessageKeyException ex) {
            MessageIdResolver.requireSurvivable(ex);
            throw invalid(message, String.valueOf(ex.getMessage()), ex.getCause());
        } catch (Throwable ex) {
            MessageIdResolver.requireSurvivable(ex);
            throw invalid(message, "it cannot be found, as that failed with " + ex, ex);
        }
        throw new MissingMessageKeyException(
                ("The message %s has no version for consumer '%s': %s gave none. Let its producer set one, or name another"
                                + " source in @IdempotentListener(version = …).")
                        .formatted(RecordCoordinates.of(message.record()), this.consumer, this.source),
                null);
    }

    /** The variables that it needs of the converted message. */
    public Set<String> variables() {
        return this.source.variables();
    }

    private InvalidMessageKeyException invalid(MessageView message, String why, @Nullable Throwable cause) {
        return new InvalidMessageKeyException(
                "The version of the message %s for consumer '%s', from %s, cannot be used: %s."
                        .formatted(
                                RecordCoordinates.of(message.record()),
                                this.consumer,
                                this.source,
                                StringUtils.truncate(why, MessageIdResolver.LONGEST_REASON)),
                cause);
    }
}
