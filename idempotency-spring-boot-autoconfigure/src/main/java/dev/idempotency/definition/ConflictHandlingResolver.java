package dev.idempotency.definition;

import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.kafka.PayloadDigester;
import dev.idempotency.observe.ConsumerObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Works out what becomes of messages that have the id of another one. */
final class ConflictHandlingResolver {

    private static final Logger logger = LoggerFactory.getLogger(ConflictHandlingResolver.class);

    private final ListenerDefaults defaults;
    private final Map<String, ConflictWarnings> warnings = new ConcurrentHashMap<>();

    ConflictHandlingResolver(ListenerDefaults defaults) {
        this.defaults = defaults;
    }

    /** Who does not ask for it does not pay for it, either. */
    ConflictHandling resolve(ListenerCandidate candidate, String consumer, ConsumerObserver observer) {
        OnConflict own = candidate.annotation().conflicts();
        OnConflict mode = (own != OnConflict.DEFAULT) ? own : this.defaults.conflicts();
        boolean compared = mode != OnConflict.OFF && candidate.annotation().strategy() == Strategy.MESSAGE_ID;
        PayloadDigester digester =
                compared ? this.defaults.receivedBytes().digestIn(candidate.container()) : PayloadDigester.NONE;
        if (digester == PayloadDigester.OF_VALUES) {
            logger.info(
                    "Payloads of consumer '{}' are compared if they are text or bytes, and others are not: whether a message"
                            + " has the id of another one is not seen then. {}.",
                    consumer,
                    DeserializerInstrumentation.refusal(candidate.container()));
        }
        ConflictWarnings warnings = this.warnings.computeIfAbsent(consumer, ConflictWarnings::new);
        return new ConflictHandling(mode, digester, warnings, observer);
    }
}
