package dev.idempotency.actuate;

import dev.idempotency.MessageId;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.internal.store.MessageIdText;
import java.security.Principal;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.StringUtils;

/** Input of requests, converted to ids and coordinates or to text for the log, and common responses. */
final class EndpointInput {

    private static final Logger logger = LoggerFactory.getLogger(EndpointInput.class);

    /** Longer than any id that is stored. */
    private static final int LONGEST_QUOTE = 300;

    private EndpointInput() {}

    /** The ids under which a message may be stored: derived from the key of its producer, or the given id itself. */
    static Set<MessageId> messageIds(String consumer, String key) {
        if (isRefusedByDatabases(consumer)) {
            throw new InvalidEndpointRequestException(
                    "No consumer can have this name: it contains a NUL character, which databases refuse",
                    "No consumer can have this name");
        }
        try {
            return MessageIdText.idsNamed(consumer, key);
        } catch (IllegalArgumentException ex) {
            throw new InvalidEndpointRequestException(
                    "No message can have this id: " + ex.getMessage(), "No message can have this id");
        }
    }

    static boolean isRefusedByDatabases(String text) {
        return text.indexOf('\0') >= 0;
    }

    /** Coordinates that are written as the library writes them: {@code topic-partition@offset}. */
    static RecordCoordinates coordinates(String text) {
        return orBadRequest(() -> RecordCoordinates.parse(text));
    }

    /** Text for responses and for the log, in which line breaks could forge lines. */
    static String printable(String text) {
        return StringUtils.truncate(text, LONGEST_QUOTE).replaceAll("\\p{Cntrl}", "?");
    }

    /** The response to a request that was understood, and refused. */
    record Refused(String refused) {}

    static WebEndpointResponse<Object> refused(@Nullable String reason, int status) {
        return new WebEndpointResponse<>(new Refused(String.valueOf(reason)), status);
    }

    /** Returns what is asked for; parameters that it does not take are a bad request. */
    static <T extends @Nullable Object> T orBadRequest(Supplier<T> work) {
        try {
            return work.get();
        } catch (IllegalArgumentException ex) {
            throw new InvalidEndpointRequestException(ex.getMessage(), ex.getMessage());
        }
    }

    static InvalidEndpointRequestException missingConsumer() {
        return new InvalidEndpointRequestException(
                "Messages are known to a consumer: give the parameter 'consumer', too", "Missing consumer");
    }

    static <T> WebEndpointResponse<T> notFound() {
        return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
    }

    /** The answer to a request that has no other result than that it was done, or not. */
    static <T> WebEndpointResponse<T> noContent(boolean done) {
        return done ? new WebEndpointResponse<>(WebEndpointResponse.STATUS_NO_CONTENT) : notFound();
    }

    /** Logs the user that has requested a change. */
    static void audit(SecurityContext security, String consumer, String request) {
        Principal principal = security.getPrincipal();
        logger.warn(
                "Requested by {} for consumer '{}': {}",
                (principal != null) ? printable(principal.getName()) : "an unknown user",
                printable(consumer),
                request);
    }
}
