package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.Strategy;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.AdmissionStrategy;
import dev.idempotency.store.FailureTranslatingStore;
import dev.idempotency.store.JdbcStrategyFactory;
import dev.idempotency.store.MessageIdStrategy;
import dev.idempotency.store.ProcessedMessageStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Finds out how the messages of a listener are recognised. */
final class StrategyResolver {

    private final ListenerDefaults defaults;
    private final Map<String, Strategy> strategies = new ConcurrentHashMap<>();

    StrategyResolver(ListenerDefaults defaults) {
        this.defaults = defaults;
    }

    /** Listeners of one consumer share their rows, which mean nothing to another strategy. */
    Strategy require(Strategy strategy, String consumer) {
        Strategy others = this.strategies.putIfAbsent(consumer, strategy);
        if (others != null && others != strategy) {
            throw ListenerFault.found(
                    Check.STRATEGY,
                    "The messages of consumer '%s' are to be recognised by Strategy.%s and by Strategy.%s."
                            .formatted(consumer, others, strategy),
                    "State one strategy for all its methods, or give each a consumer = … of its own.");
        }
        if (strategy != Strategy.MESSAGE_ID && this.defaults.strategies() == null) {
            throw ListenerFault.found(
                    Check.STRATEGY,
                    "Strategy.%s needs %s, but the application has a ProcessedMessageStore of its own."
                            .formatted(
                                    strategy,
                                    (strategy == Strategy.UNIQUE_CONSTRAINT)
                                            ? "the database of the provided store"
                                            : "a table beside that of processed messages"),
                    "Use the provided store, or the default, Strategy.MESSAGE_ID.");
        }
        if (strategy == Strategy.VERSION
                && !this.defaults.strategies().versions().isSupported()) {
            throw ListenerFault.found(
                    Check.STRATEGY,
                    "The application has a Dialect of its own, which does not know how versions are compared.",
                    "Let it return a statement from versionsIn(…), or use the default, Strategy.MESSAGE_ID.");
        }
        if (strategy == Strategy.UNIQUE_CONSTRAINT
                && !this.defaults.strategies().isUniqueConstraintSupported()) {
            throw ListenerFault.found(
                    Check.STRATEGY,
                    "Strategy.UNIQUE_CONSTRAINT needs PostgreSQL, by its own driver without autosave=always: others do not"
                            + " tell which constraint was violated, and in which transaction.",
                    "Use the default, Strategy.MESSAGE_ID.");
        }
        return strategy;
    }

    /** Makes the strategy of a listener that has no faults. */
    AdmissionStrategy create(Strategy strategy, String consumer, TopicIdTracker topics, ConsumerObserver observer) {
        JdbcStrategyFactory tables = this.defaults.strategies();
        if (strategy == Strategy.MESSAGE_ID || tables == null) {
            return new MessageIdStrategy(consumer, new FailureTranslatingStore(this.defaults.store()));
        }
        ProcessedMessageStore store = new FailureTranslatingStore(this.defaults.store());
        return switch (strategy) {
            case VERSION -> tables.byVersion(consumer, store);
            case OFFSET -> tables.byOffset(consumer, topics, observer, store);
            case MESSAGE_ID, UNIQUE_CONSTRAINT -> throw new IllegalStateException();
        };
    }

    /** Finds the constraint of a listener that is recognised by one, in the database. */
    AdmissionStrategy byUniqueConstraint(String constraint, String consumer) {
        JdbcStrategyFactory tables = this.defaults.strategies();
        ProcessedMessageStore store = new FailureTranslatingStore(this.defaults.store());
        if (tables == null || !tables.isUniqueConstraintSupported()) {
            return new MessageIdStrategy(consumer, store);
        }
        try {
            return tables.byUniqueConstraint(constraint, consumer, store);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.STRATEGY,
                    "uniqueConstraint = \"%s\" cannot tell duplicates. %s.".formatted(constraint, ex.getMessage()),
                    "Name a unique constraint or unique index of a table that the listener inserts into, and let it be made"
                            + " before the application starts, as by its migrations.");
        }
    }
}
