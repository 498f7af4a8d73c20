package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.Strategy;
import dev.idempotency.database.UniqueConstraint;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.AdmissionStrategy;
import dev.idempotency.store.FailureTranslatingStore;
import dev.idempotency.store.JdbcStrategyFactory;
import dev.idempotency.store.JdbcVersionStore;
import dev.idempotency.store.MessageIdStrategy;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

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

    /**
     * Makes the strategy of a listener that has no faults.
     *
     * @param constraint the constraint that it is recognised by, if it is
     */
    AdmissionStrategy create(
            Strategy strategy,
            String consumer,
            TopicIdTracker topics,
            ConsumerObserver observer,
            @Nullable UniqueConstraint constraint) {
        JdbcStrategyFactory tables = this.defaults.strategies();
        if (strategy == Strategy.MESSAGE_ID || tables == null) {
            return new MessageIdStrategy(new FailureTranslatingStore(this.defaults.store()));
        }
        return switch (strategy) {
            case VERSION -> tables.byVersion();
            case OFFSET -> tables.byOffset(consumer, topics, observer);
            case UNIQUE_CONSTRAINT -> tables.byUniqueConstraint(Objects.requireNonNull(constraint), consumer);
            case MESSAGE_ID -> throw new IllegalStateException();
        };
    }

    /** The versions of a listener that has {@link Strategy#VERSION} and no faults. */
    JdbcVersionStore versions() {
        return Objects.requireNonNull(this.defaults.strategies()).versions();
    }

    /** Finds a constraint in the database; {@code null} where that is another fault already. */
    @Nullable
    UniqueConstraint findUniqueConstraint(String name) {
        JdbcStrategyFactory tables = this.defaults.strategies();
        if (tables == null || !tables.isUniqueConstraintSupported()) {
            return null;
        }
        try {
            return tables.findUniqueConstraint(name);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.STRATEGY,
                    "uniqueConstraint = \"%s\" cannot tell duplicates. %s.".formatted(name, ex.getMessage()),
                    "Name a unique constraint or index on what the message sets, not null, of a table that the listener"
                            + " inserts into, and create it before the application starts, as by its migrations.");
        }
    }
}
