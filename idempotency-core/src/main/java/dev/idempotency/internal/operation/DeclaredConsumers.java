package dev.idempotency.internal.operation;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotencyConfigurationException;
import dev.idempotency.IdempotentConsumer;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.RetentionLimit;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.event.IdempotencyEventNotifier;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/** The consumers that the application has declared, for ids that are claimed by code. */
public final class DeclaredConsumers implements ConsumerRegistry {

    private static final Logger logger = LoggerFactory.getLogger(DeclaredConsumers.class);

    private static final String FROM_CODE = "IdempotentOperations";

    private final Map<String, Declared> consumers = new TreeMap<>();

    private record Declared(
            ConsumerDescription description, Duration resultRetention, IdempotencyEventListener observer) {}

    /** Those that beans declare. Unless they say more, results are kept for {@code resultRetention}, at most as long as ids. */
    public DeclaredConsumers(
            List<IdempotentConsumer> declared,
            Duration retention,
            Duration resultRetention,
            List<IdempotencyEventListener> observers) {
        for (IdempotentConsumer consumer : declared) {
            String name = consumer.name();
            if (this.consumers.containsKey(name)) {
                throw new IllegalStateException(
                        "Consumer '%s' is declared by several beans of type IdempotentConsumer. Keep one of them."
                                .formatted(name));
            }
            Duration ids = (consumer.retention() != null) ? consumer.retention() : retention;
            RetentionLimit.require("The retention of IdempotentConsumer '" + name + "'", ids);
            Duration results = (consumer.resultRetention() != null) ? consumer.resultRetention() : resultRetention;
            ConsumerDescription description = new ConsumerDescription(
                    name, FROM_CODE, List.of(), null, "code", ids, DeduplicationStrategy.MESSAGE_ID);
            this.consumers.put(
                    name,
                    new Declared(
                            description,
                            shorter(ids, results),
                            IdempotencyEventNotifier.of(observers).forConsumer(description)));
        }
        if (!this.consumers.isEmpty()) {
            logger.info("Idempotent consumers of code: {}{}", this.consumers.size(), describeAll());
        }
    }

    private String describeAll() {
        return this.consumers.values().stream()
                .map(Declared::description)
                .map(consumer -> "%n  '%s': remembered for %s"
                        .formatted(
                                consumer.name(),
                                DurationFormatterUtils.print(consumer.retention(), DurationFormat.Style.COMPOSITE)))
                .collect(Collectors.joining());
    }

    private static Duration shorter(Duration one, Duration other) {
        return (one.compareTo(other) < 0) ? one : other;
    }

    @Override
    public Collection<ConsumerDescription> consumers() {
        return this.consumers.values().stream().map(Declared::description).toList();
    }

    /** How long results are kept, by consumer, given how long each consumer of the application remembers. */
    public Map<String, Duration> resultRetentions(Map<String, Duration> all, Duration resultRetention) {
        Map<String, Duration> retentions = new HashMap<>();
        all.forEach((name, retention) -> {
            Declared declared = this.consumers.get(name);
            retentions.put(name, (declared != null) ? declared.resultRetention() : shorter(retention, resultRetention));
        });
        return retentions;
    }

    /**
     * Returns the observer of a consumer.
     *
     * @throws IdempotencyConfigurationException if it is not declared
     */
    IdempotencyEventListener observerOf(String consumer) {
        Declared declared = this.consumers.get(consumer);
        if (declared == null) {
            String name = StringUtils.truncate(consumer);
            String remedy = "Define a bean: @Bean IdempotentConsumer … { return IdempotentConsumer.named(\"%s\"); }"
                    .formatted(name);
            throw new IdempotencyConfigurationException(
                    "Consumer '%s' is not declared; there are %s. Its retention is unknown. %s"
                            .formatted(name, new TreeSet<>(this.consumers.keySet()), remedy),
                    remedy,
                    null);
        }
        return declared.observer();
    }

    boolean isEmpty() {
        return this.consumers.isEmpty();
    }
}
