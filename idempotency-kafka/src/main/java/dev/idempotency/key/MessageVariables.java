package dev.idempotency.key;

import dev.idempotency.kafka.TopicCoordinates;
import dev.idempotency.store.MessageIdText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** The variables of an expression for one message; everything else is shared, with the caches of reflective look-ups. */
final class MessageVariables extends StandardEvaluationContext {

    static final String COORDINATES = "coordinates";

    static final List<String> NAMES = List.of("record", "payload", "headers", COORDINATES);

    /** Those that are known before the record has been converted. */
    static final List<String> OF_RECORD = List.of("record", "headers", COORDINATES);

    private final StandardEvaluationContext shared;
    private final MessageView message;
    private final @Nullable TopicCoordinates coordinates;
    private final List<String> argumentNames;

    /** {@code coordinates} are {@code null} if the expression does not ask for them. */
    MessageVariables(
            StandardEvaluationContext shared,
            MessageView message,
            @Nullable TopicCoordinates coordinates,
            List<String> argumentNames) {
        this.shared = shared;
        this.message = message;
        this.coordinates = coordinates;
        this.argumentNames = argumentNames;
        shared.applyDelegatesTo(this);
        setBeanResolver(shared.getBeanResolver());
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        return switch (name) {
            case "record" -> this.message.record();
            case "payload" -> this.message.payload();
            case "headers" -> headers();
            case COORDINATES -> this.coordinates;
            default -> {
                int argument = this.argumentNames.indexOf(name);
                yield (argument >= 0) ? this.message.argument(argument) : this.shared.lookupVariable(name);
            }
        };
    }

    private Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Header header : this.message.record().headers()) {
            if (header.value() != null) {
                headers.put(header.key(), MessageIdText.decode(header.value()));
            }
        }
        return headers;
    }
}
