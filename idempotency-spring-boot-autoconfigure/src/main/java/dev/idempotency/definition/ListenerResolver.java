package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.Strategy;
import dev.idempotency.database.RetentionLimit;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.inbox.InboxRecorderFactory;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.kafka.PayloadDigester;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.key.ExpressionKeySource;
import dev.idempotency.key.HeaderKeyResolver;
import dev.idempotency.key.KeySource;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.key.VersionResolver;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.AdmissionStrategy;
import dev.idempotency.store.FailureTranslatingStore;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Works out all that is to be known of one listener; what stands against that is collected, to be told at once. */
final class ListenerResolver {

    private static final Logger logger = LoggerFactory.getLogger(ListenerResolver.class);

    /**
     * What is known of a listener.
     *
     * @param listener for those who look at it
     * @param definition for those who call it; {@code null} if its faults do not allow that
     */
    record Resolved(ProtectedListener listener, @Nullable ListenerDefinition definition) {

        /** The listener with more faults, which do not allow it to be called. */
        Resolved refuse(List<ListenerFault> more) {
            return more.isEmpty() ? this : new Resolved(this.listener.withFaults(more), null);
        }
    }

    private final ConfigurableListableBeanFactory beanFactory;
    private final ListenerDefaults defaults;
    private final ConsumerNameResolver names = new ConsumerNameResolver();
    private final TransactionResolver transactions;
    private final ReplyKeeperResolver replies;
    private final StrategyResolver strategies;
    private final Map<String, Duration> retentions = new ConcurrentHashMap<>();
    private final Map<String, ConflictWarnings> warnings = new ConcurrentHashMap<>();

    ListenerResolver(ConfigurableListableBeanFactory beanFactory, ListenerDefaults defaults) {
        this.beanFactory = beanFactory;
        this.defaults = defaults;
        this.transactions = new TransactionResolver(beanFactory);
        this.replies = new ReplyKeeperResolver(defaults.results());
        this.strategies = new StrategyResolver(defaults);
    }

    /**
     * Resolves a listener.
     *
     * @param targetSeen whether its calls are seen behind all aspects
     * @param observers who hears of a consumer's outcomes
     */
    Resolved resolve(
            ListenerCandidate candidate,
            TopicIdTracker topics,
            boolean targetSeen,
            Function<ConsumerDescription, ConsumerObserver> observers) {
        List<ListenerFault> faults = new ArrayList<>();
        IdempotentListener annotation = candidate.annotation();
        String consumer = attempt(
                faults,
                candidate.name(),
                () -> this.names.nameOf(candidate, text(annotation.consumer(), Check.CONSUMER_NAME)));
        Strategy strategy =
                attempt(faults, annotation.strategy(), () -> this.strategies.require(annotation.strategy(), consumer));
        faults.addAll(StrategyValidator.validate(candidate));
        ReplyKeeper replies =
                ListenerResolver.<@Nullable ReplyKeeper>attempt(faults, null, () -> this.replies.resolve(candidate));
        ListenerMethod method = new ListenerMethod(candidate.method(), targetSeen, replies);
        String expression = attempt(faults, "", () -> text(annotation.key(), Check.KEY_EXPRESSION));
        boolean expressed = StringUtils.hasText(expression);
        KeySource keys = attempt(faults, KeySource.of(this.defaults.keyResolver()), () -> switch (strategy) {
            case OFFSET -> KeySource.OFFSET;
            case UNIQUE_CONSTRAINT -> KeySource.coordinates("the constraint " + annotation.uniqueConstraint());
            case MESSAGE_ID, VERSION -> keySource(expression, method, topics);
        });
        String versionExpression = attempt(faults, "", () -> text(annotation.version(), Check.KEY_EXPRESSION));
        ExpressionKeySource versions = ListenerResolver.<@Nullable ExpressionKeySource>attempt(
                faults, null, () -> versionSource(strategy, versionExpression, method, topics));
        Duration retention = attempt(faults, this.defaults.retention(), () -> retention(annotation, consumer));
        TransactionAttribute attribute = this.transactions.attributesOf(candidate.method(), candidate.targetClass());
        PlatformTransactionManager manager = ListenerResolver.<@Nullable PlatformTransactionManager>attempt(
                faults,
                null,
                () -> this.transactions.managerFor(
                        attribute, text(annotation.transactionManager(), Check.TRANSACTION_MANAGER)));
        faults.addAll(StrategyValidator.validate(strategy, attribute));
        AdmissionStrategy byConstraint = ListenerResolver.<@Nullable AdmissionStrategy>attempt(
                faults, null, () -> byConstraint(strategy, annotation, consumer));
        if (!targetSeen && candidate.hasFrozenProxy()) {
            faults.add(new ListenerFault(
                    Check.NOT_PROXIED,
                    "Its proxy is frozen, so that a call which an aspect repeats would not be noticed.",
                    "Do not call setFrozen(true) on the proxies of listeners, or on what creates them."));
        }
        InboxRecorder inbox =
                ListenerResolver.<@Nullable InboxRecorder>attempt(faults, null, () -> inbox(candidate, consumer));
        ConsumerDescription description = new ConsumerDescription(
                consumer,
                candidate.name(),
                ContainerFacts.topicsOf(candidate.container()),
                candidate.container().getGroupId(),
                (versions != null) ? "%s, version from %s".formatted(keys, versions) : keys.toString(),
                retention,
                strategy);
        ProtectedListener listener = new ProtectedListener(
                description,
                candidate.bean(),
                candidate.method(),
                candidate.container(),
                manager,
                attribute,
                expressed ? expression : null,
                (versions != null) ? versionExpression : null,
                faults);
        if (manager == null || !faults.isEmpty()) {
            return new Resolved(listener, null);
        }
        ConsumerObserver observer = observers.apply(description);
        ConflictHandling conflicts = conflicts(candidate, consumer, observer);
        ProcessedMessageStore store = new FailureTranslatingStore(this.defaults.store());
        boolean fromHeaders = !expressed && this.defaults.keyResolver() instanceof HeaderKeyResolver;
        ListenerDefinition definition = new ListenerDefinition(
                consumer,
                method,
                candidates(
                        strategy,
                        new MessageIdResolver(consumer, keys, this.defaults.onMissingKey()),
                        versions,
                        conflicts),
                new KeyFailures(description, fromHeaders, store, this.defaults.outages()::classify, observer),
                new ListenerTransaction(
                        manager, attribute, this.defaults.outages().afterCommitOf(consumer)),
                (byConstraint != null) ? byConstraint : this.strategies.create(strategy, consumer, topics, observer),
                conflicts,
                inbox,
                observer);
        return new Resolved(listener, definition);
    }

    private @Nullable AdmissionStrategy byConstraint(
            Strategy strategy, IdempotentListener annotation, String consumer) {
        String constraint = text(annotation.uniqueConstraint(), Check.STRATEGY);
        return (strategy == Strategy.UNIQUE_CONSTRAINT && StringUtils.hasText(constraint))
                ? this.strategies.byUniqueConstraint(constraint, consumer)
                : null;
    }

    private static CandidateFactory candidates(
            Strategy strategy,
            MessageIdResolver ids,
            @Nullable ExpressionKeySource versions,
            ConflictHandling conflicts) {
        if (versions != null) {
            return new VersionCandidates(ids, new VersionResolver(ids.consumer(), versions));
        }
        return switch (strategy) {
            case OFFSET, UNIQUE_CONSTRAINT -> new RecordCandidates(ids);
            case MESSAGE_ID, VERSION -> new MessageCandidates(ids, conflicts);
        };
    }

    /** Who does not ask for it does not pay for it, either. */
    private ConflictHandling conflicts(ListenerCandidate candidate, String consumer, ConsumerObserver observer) {
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

    /** What is resolved, or the substitute if there is a fault. */
    private static <T extends @Nullable Object> T attempt(
            List<ListenerFault> faults, T substitute, Supplier<T> resolution) {
        try {
            return resolution.get();
        } catch (ListenerFault.Found ex) {
            faults.add(ex.fault());
            return substitute;
        }
    }

    /** A text of the annotation without its placeholders. */
    private String text(String value, Check check) {
        try {
            String resolved = this.beanFactory.resolveEmbeddedValue(value);
            return (resolved != null) ? resolved : "";
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    check, ex.getMessage() + ".", "Set the property, or mend the placeholder in @IdempotentListener.");
        }
    }

    private KeySource keySource(String expression, ListenerMethod method, TopicIdTracker topics) {
        if (!StringUtils.hasText(expression)) {
            return KeySource.of(this.defaults.keyResolver());
        }
        try {
            return new ExpressionKeySource(expression, method.parameterNames(), this.beanFactory, topics::of);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.KEY_EXPRESSION,
                    ex.getMessage() + ".",
                    "Mend the expression in @IdempotentListener(key = …).");
        }
    }

    private @Nullable ExpressionKeySource versionSource(
            Strategy strategy, String expression, ListenerMethod method, TopicIdTracker topics) {
        if (strategy != Strategy.VERSION || !StringUtils.hasText(expression)) {
            return null;
        }
        try {
            return ExpressionKeySource.ofVersion(expression, method.parameterNames(), this.beanFactory, topics::of);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.KEY_EXPRESSION,
                    ex.getMessage() + ".",
                    "Mend the expression in @IdempotentListener(version = …).");
        }
    }

    /** Listeners of one consumer share their rows: the shorter retention would forget the other's messages. */
    private Duration retention(IdempotentListener annotation, String consumer) {
        String text = text(annotation.retention(), Check.RETENTION_VALUE);
        Duration retention = StringUtils.hasText(text) ? bounded(parse(text)) : this.defaults.retention();
        Duration others = this.retentions.putIfAbsent(consumer, retention);
        if (others != null && !others.equals(retention)) {
            throw ListenerFault.found(
                    Check.RETENTION_VALUE,
                    "The consumer '%s' is to remember its messages for %s and for %s."
                            .formatted(consumer, others, retention),
                    "State one @IdempotentListener(retention = …) for all its methods.");
        }
        return retention;
    }

    private static Duration parse(String retention) {
        try {
            return DurationFormatterUtils.detectAndParse(retention);
        } catch (IllegalArgumentException | ArithmeticException ex) {
            throw ListenerFault.found(
                    Check.RETENTION_VALUE,
                    "The retention '%s' is no duration.".formatted(retention),
                    "Write @IdempotentListener(retention = \"30d\"), or leave it to idempotency.retention.");
        }
    }

    private static Duration bounded(Duration retention) {
        try {
            return RetentionLimit.require("@IdempotentListener(retention = …)", retention);
        } catch (IllegalArgumentException ex) {
            throw ListenerFault.found(
                    Check.RETENTION_VALUE,
                    ex.getMessage() + ".",
                    "Write @IdempotentListener(retention = \"3650d\"), or less.");
        }
    }

    private @Nullable InboxRecorder inbox(ListenerCandidate candidate, String consumer) {
        InboxRecorderFactory inboxes = this.defaults.inboxes();
        boolean forAll =
                inboxes != null && inboxes.forAll() && candidate.annotation().strategy() == Strategy.MESSAGE_ID;
        boolean wanted = candidate.annotation().inbox() || forAll;
        if (!wanted) {
            return null;
        }
        if (inboxes == null) {
            throw ListenerFault.found(
                    Check.INBOX,
                    "Its messages are to be kept in the inbox, which is a table beside that of processed messages, but"
                            + " the application has a ProcessedMessageStore of its own.",
                    "Remove inbox = true, or use the provided store.");
        }
        String refusal = DeserializerInstrumentation.refusal(candidate.container());
        if (refusal != null) {
            throw ListenerFault.found(
                    Check.INBOX,
                    refusal + ".",
                    "Use a DefaultKafkaConsumerFactory, or remove inbox = true and idempotency.inbox.enabled.");
        }
        return inboxes.create(consumer, candidate.container());
    }
}
