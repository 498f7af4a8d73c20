package dev.idempotency.internal.definition;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.StartupCheck;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.RetentionLimit;
import dev.idempotency.internal.database.UniqueConstraint;
import dev.idempotency.internal.dedup.ClaimStrategy;
import dev.idempotency.internal.dedup.JdbcStrategyFactory;
import dev.idempotency.internal.dedup.MessageIdStrategy;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.store.ClaimedTransaction;
import dev.idempotency.internal.store.StoreExceptionTranslator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Resolves how the messages of a listener are recognised, and for how long. Listeners of one consumer share their rows. */
final class StrategyResolver {

    private static final String NO_IDS = "it keeps no ids of messages";

    private static final Set<DeduplicationStrategy> BY_ID = EnumSet.of(DeduplicationStrategy.MESSAGE_ID);

    private static final Set<DeduplicationStrategy> BY_KEY =
            EnumSet.of(DeduplicationStrategy.MESSAGE_ID, DeduplicationStrategy.VERSION);

    private final ListenerDefaults defaults;
    private final AnnotationTexts texts;
    private final Map<String, DeduplicationStrategy> strategies = new ConcurrentHashMap<>();
    private final Map<String, Duration> retentions = new ConcurrentHashMap<>();

    StrategyResolver(ListenerDefaults defaults, AnnotationTexts texts) {
        this.defaults = defaults;
        this.texts = texts;
    }

    DeduplicationStrategy require(DeduplicationStrategy strategy, String consumer) {
        DeduplicationStrategy others = this.strategies.putIfAbsent(consumer, strategy);
        if (others != null && others != strategy) {
            throw ListenerFault.found(
                    StartupCheck.STRATEGY,
                    "The messages of consumer '%s' cannot be recognised by both DeduplicationStrategy.%s and DeduplicationStrategy.%s."
                            .formatted(consumer, others, strategy),
                    "State one strategy for all its methods, or give each its own consumer = ….");
        }
        if (strategy != DeduplicationStrategy.MESSAGE_ID && this.defaults.strategies() == null) {
            throw ListenerFault.found(
                    StartupCheck.STRATEGY,
                    "DeduplicationStrategy.%s needs the database of the provided store, but the application defines"
                                    .formatted(strategy)
                            + " its own ProcessedMessageStore.",
                    "Use the provided store, or the default, DeduplicationStrategy.MESSAGE_ID.");
        }
        return strategy;
    }

    /** Finds attributes that the strategy of a listener would ignore, or cannot keep, and those that it lacks. */
    List<ListenerFault> validate(
            IdempotentListener annotation, TransactionAttribute attribute, boolean hasRetryTopics) {
        boolean key = isStated(annotation.key());
        boolean version = isStated(annotation.version());
        boolean constraint = isStated(annotation.uniqueConstraint());
        boolean inbox = this.texts.resolveIfPossible(annotation.inbox()).equals("true");
        Attributes attributes = new Attributes(annotation.strategy(), new ArrayList<>());
        attributes.refuse(key, "key", NO_IDS, BY_KEY);
        attributes.refuse(isStated(annotation.retention()), "retention", NO_IDS, BY_KEY);
        attributes.refuse(inbox, "inbox", NO_IDS, BY_ID);
        attributes.refuse(annotation.storeReply(), "storeReply", NO_IDS, BY_ID);
        attributes.refuse(isStated(annotation.onConflict()), "onConflict", NO_IDS, BY_ID);
        attributes.refuse(version, "version", "it compares no versions", EnumSet.of(DeduplicationStrategy.VERSION));
        attributes.refuse(
                constraint,
                "uniqueConstraint",
                "it looks at no constraint",
                EnumSet.of(DeduplicationStrategy.UNIQUE_CONSTRAINT));
        attributes.refuse(
                ClaimedTransaction.hasExceptionsThatCommit(attribute),
                "noRollbackFor",
                "what a duplicate did up to the violation would be committed",
                EnumSet.complementOf(EnumSet.of(DeduplicationStrategy.UNIQUE_CONSTRAINT)));
        attributes.refuse(
                hasRetryTopics,
                "A retry topic (@RetryableTopic or RetryTopicConfiguration)",
                "each attempt is another record, in another topic",
                EnumSet.complementOf(EnumSet.of(DeduplicationStrategy.OFFSET)));
        attributes.require(constraint, DeduplicationStrategy.UNIQUE_CONSTRAINT, "uniqueConstraint = \"payment_pkey\"");
        attributes.require(version, DeduplicationStrategy.VERSION, "version = \"#payload.version\"");
        attributes.require(key, DeduplicationStrategy.VERSION, "key = \"#payload.accountId\"");
        return attributes.faults();
    }

    private record Attributes(DeduplicationStrategy strategy, List<ListenerFault> faults) {

        void refuse(boolean stated, String name, String reason, Set<DeduplicationStrategy> allowedBy) {
            if (stated && !allowedBy.contains(this.strategy)) {
                this.faults.add(new ListenerFault(
                        StartupCheck.STRATEGY,
                        "%s does not go with strategy = DeduplicationStrategy.%s: %s."
                                .formatted(name, this.strategy, reason),
                        "Remove it, or use DeduplicationStrategy.%s."
                                .formatted(allowedBy.iterator().next())));
            }
        }

        void require(boolean stated, DeduplicationStrategy requiredBy, String example) {
            if (!stated && this.strategy == requiredBy) {
                this.faults.add(new ListenerFault(
                        StartupCheck.STRATEGY,
                        "strategy = DeduplicationStrategy.%s needs an attribute such as %s."
                                .formatted(requiredBy, example),
                        "Add it to @IdempotentListener."));
            }
        }
    }

    /** Whether an attribute resolves to anything. */
    private boolean isStated(String text) {
        return StringUtils.hasText(this.texts.resolveIfPossible(text));
    }

    /** Returns the retention of a consumer: the shorter of two would forget the other's messages. */
    Duration retentionOf(String text, String consumer) {
        Duration retention = StringUtils.hasText(text) ? parse(text) : this.defaults.retention();
        Duration others = this.retentions.putIfAbsent(consumer, retention);
        if (others != null && !others.equals(retention)) {
            throw ListenerFault.found(
                    StartupCheck.RETENTION_VALUE,
                    "The consumer '%s' is to remember its messages for %s and for %s."
                            .formatted(consumer, others, retention),
                    "State one @IdempotentListener(retention = …) for all its methods.");
        }
        return retention;
    }

    private static Duration parse(String text) {
        try {
            return RetentionLimit.require(
                    "@IdempotentListener(retention = …)", DurationFormatterUtils.detectAndParse(text));
        } catch (IllegalArgumentException | ArithmeticException ex) {
            throw ListenerFault.found(
                    StartupCheck.RETENTION_VALUE,
                    "The retention '%s' cannot be used: %s.".formatted(text, ex.getMessage()),
                    "Write @IdempotentListener(retention = \"30d\"), at most 3650d, or leave it to idempotency.retention.");
        }
    }

    /**
     * Whether the messages of a listener that wants it, or has it by default, are claimed with the commit. Where it is the
     * default, listeners that would gain nothing claim first. {@code perPoll} is whether it demands one transaction per poll.
     */
    boolean claimsAtCommit(ListenerCandidate candidate, boolean perPoll, PlatformTransactionManager manager) {
        boolean demanded = !candidate.annotation().claimAtCommit().isEmpty();
        String contradiction =
                contradictionToClaimAtCommit(candidate, perPoll || (!demanded && this.defaults.transactionPerPoll()));
        if (contradiction != null && !demanded) {
            return false;
        }
        String obstacle =
                (contradiction != null) ? "does not go with " + contradiction : obstacleToClaimAtCommit(manager);
        if (obstacle != null) {
            throw ListenerFault.found(
                    StartupCheck.STRATEGY,
                    "A claim with the commit %s.".formatted(obstacle),
                    "Remove claimAtCommit = \"true\" or, where idempotency.claim.at-commit is set, write"
                            + " @IdempotentListener(claimAtCommit = \"false\").");
        }
        return true;
    }

    private @Nullable String contradictionToClaimAtCommit(ListenerCandidate candidate, boolean shared) {
        if (shared || ListenerContainers.deliversBatches(candidate.container())) {
            return (shared ? "transactionPerPoll" : "a batch listener") + ", which claims all messages at once";
        }
        if (candidate.annotation().storeReply()) {
            return "storeReply, as the claim is not held while the listener runs";
        }
        if (isStated(candidate.annotation().lock())) {
            return "lock, as duplicates would wait for it";
        }
        DeduplicationStrategy strategy = candidate.annotation().strategy();
        return (strategy != DeduplicationStrategy.MESSAGE_ID) ? "strategy = DeduplicationStrategy." + strategy : null;
    }

    private @Nullable String obstacleToClaimAtCommit(PlatformTransactionManager manager) {
        JdbcStrategyFactory tables = this.defaults.strategies();
        if (tables == null) {
            return "needs the provided store, but the application defines its own ProcessedMessageStore";
        }
        if (!tables.isUniqueConstraintSupported()) {
            return "needs PostgreSQL, by its own driver without autosave=always";
        }
        return (manager instanceof DataSourceTransactionManager)
                ? null
                : "needs a JdbcTransactionManager, and its own is a %s, which may write at the commit"
                        .formatted(manager.getClass().getSimpleName());
    }

    /** Creates the strategy of a listener without faults; {@code constraint} is the one that it is recognised by, if it is. */
    ClaimStrategy create(
            DeduplicationStrategy strategy,
            String consumer,
            TopicIdTracker topics,
            IdempotencyEventListener observer,
            @Nullable UniqueConstraint constraint,
            boolean atCommit) {
        return switch (strategy) {
            case MESSAGE_ID -> {
                MessageIdStrategy claimFirst = new MessageIdStrategy(this.defaults.store());
                yield atCommit ? tables().byIdAtCommit(claimFirst) : claimFirst;
            }
            case VERSION -> tables().byVersion();
            case OFFSET -> tables().byOffset(consumer, topics, observer);
            case UNIQUE_CONSTRAINT -> tables().byUniqueConstraint(Objects.requireNonNull(constraint));
        };
    }

    BooleanSupplier processedAny(DeduplicationStrategy strategy, String consumer) {
        return () -> StoreExceptionTranslator.attempt(
                () -> "ask whether consumer '" + consumer + "' has processed any message",
                () -> (strategy == DeduplicationStrategy.VERSION)
                        ? tables().versions().hasProcessed(consumer)
                        : this.defaults.store().hasProcessed(consumer));
    }

    /** Finds a constraint in the database; {@code null} where there is none to be found, which is another fault already. */
    @Nullable
    UniqueConstraint findUniqueConstraint(DeduplicationStrategy strategy, String name) {
        JdbcStrategyFactory tables = this.defaults.strategies();
        if (strategy != DeduplicationStrategy.UNIQUE_CONSTRAINT || !StringUtils.hasText(name) || tables == null) {
            return null;
        }
        if (!tables.isUniqueConstraintSupported()) {
            throw ListenerFault.found(
                    StartupCheck.STRATEGY,
                    "DeduplicationStrategy.UNIQUE_CONSTRAINT needs PostgreSQL, by its own driver without autosave=always: others do not"
                            + " tell which constraint was violated, and in which transaction.",
                    "Use the default, DeduplicationStrategy.MESSAGE_ID.");
        }
        try {
            return tables.findUniqueConstraint(name);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    StartupCheck.STRATEGY,
                    "uniqueConstraint = \"%s\" cannot tell duplicates. %s.".formatted(name, ex.getMessage()),
                    "Name a unique constraint or index on what the message sets, not null, of a table that the listener"
                            + " inserts into, and create it before the application starts, as by its migrations.");
        }
    }

    private JdbcStrategyFactory tables() {
        return Objects.requireNonNull(this.defaults.strategies());
    }
}
