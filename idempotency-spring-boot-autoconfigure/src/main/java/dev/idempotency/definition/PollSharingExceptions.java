package dev.idempotency.definition;

import dev.idempotency.observe.ConsumerDescription;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Consumers that keep a transaction per record although one per poll is the default: told once, in one line. */
final class PollSharingExceptions {

    private static final Logger logger = LoggerFactory.getLogger(PollSharingExceptions.class);

    private final Map<String, String> reasons = new LinkedHashMap<>();

    /** Remembers a consumer that is one of them; those that demand a transaction per poll do not start. */
    synchronized void add(ConsumerDescription consumer, PollSharingResolver.Decision decision) {
        if (!decision.demanded() && !decision.obstacles().isEmpty()) {
            this.reasons.putIfAbsent(
                    consumer.name(),
                    decision.obstacles().stream().map(ListenerFault::what).collect(Collectors.joining(" ")));
        }
    }

    /** Tells of those that have not been told of. */
    synchronized void log() {
        Map<String, String> untold = new LinkedHashMap<>(this.reasons);
        this.reasons.clear();
        if (!untold.isEmpty()) {
            logger.info(
                    "idempotency.transaction-per-poll=true, but these consumers keep a transaction per record: {}",
                    untold.entrySet().stream()
                            .map(consumer -> "'%s' (%s)".formatted(consumer.getKey(), consumer.getValue()))
                            .collect(Collectors.joining(", ")));
        }
    }
}
