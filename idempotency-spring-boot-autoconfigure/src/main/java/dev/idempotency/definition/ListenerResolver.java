package dev.idempotency.definition;

import dev.idempotency.Check;
import dev.idempotency.IdempotentListener;
import dev.idempotency.Strategy;
import dev.idempotency.database.UniqueConstraint;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.inbox.InboxRecorderFactory;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.key.ExpressionKeySource;
import dev.idempotency.key.HeaderKeyResolver;
import dev.idempotency.key.KeySource;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.key.VersionResolver;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.ClaimedTransaction;
import dev.idempotency.store.ProcessedMessageStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Resolves everything about one listener, and collects all faults. */
final class ListenerResolver {

    /**
     * A resolved listener.
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
    private final AnnotationTexts texts;
    private final IdentityResolver identities;
    private final TransactionResolver transactions;
    private final StrategyResolver strategies;

    ListenerResolver(ConfigurableListableBeanFactory beanFactory, ListenerDefaults defaults) {
        this.beanFactory = beanFactory;
        this.defaults = defaults;
        this.texts = new AnnotationTexts(beanFactory);
        this.identities = new IdentityResolver(beanFactory, defaults.keyResolver());
        this.transactions = new TransactionResolver(beanFactory);
        this.strategies = new StrategyResolver(defaults);
    }

    /**
     * Resolves a listener.
     *
     * @param targetSeen whether its calls are seen behind all aspects
     * @param observers finds the observer of a consumer
     */
    Resolved resolve(
            ListenerCandidate candidate,
            TopicIdTracker topics,
            boolean targetSeen,
            Function<ConsumerDescription, ConsumerObserver> observers) {
        List<ListenerFault> faults = new ArrayList<>();
        IdempotentListener annotation = candidate.annotation();
        String consumer = attempt(faults, candidate.name(), () -> this.identities.consumerOf(candidate));
        Strategy strategy =
                attempt(faults, annotation.strategy(), () -> this.strategies.require(annotation.strategy(), consumer));
        TransactionAttribute attribute = this.transactions.attributesOf(candidate.method(), candidate.targetClass());
        faults.addAll(StrategyValidator.validate(
                candidate, attribute, candidate.hasRetryTopics(this.beanFactory), this.texts::resolveIfPossible));
        boolean perPoll = attempt(
                faults,
                false,
                () -> this.texts.resolveFlag(annotation.transactionPerPoll(), false, Check.TRANSACTION_PER_POLL));
        ReplyKeeper replies = ListenerResolver.<@Nullable ReplyKeeper>attempt(
                faults, null, () -> ReplyKeeper.of(candidate, this.defaults.results(), perPoll));
        ListenerMethod method = new ListenerMethod(candidate.method(), targetSeen, replies);
        String expression = attempt(faults, "", () -> this.texts.resolve(annotation.key(), Check.KEY_EXPRESSION));
        boolean expressed = StringUtils.hasText(expression);
        KeySource keys = attempt(
                faults,
                KeySource.of(this.defaults.keyResolver()),
                () -> this.identities.keysOf(candidate, expression, method, topics));
        String versionExpression =
                attempt(faults, "", () -> this.texts.resolve(annotation.version(), Check.KEY_EXPRESSION));
        ExpressionKeySource versions = ListenerResolver.<@Nullable ExpressionKeySource>attempt(
                faults, null, () -> this.identities.versionsOf(candidate, versionExpression, method, topics));
        Duration retention = attempt(
                faults,
                this.defaults.retention(),
                () -> this.strategies.retentionOf(
                        this.texts.resolve(annotation.retention(), Check.RETENTION_VALUE), consumer));
        PlatformTransactionManager manager = ListenerResolver.<@Nullable PlatformTransactionManager>attempt(
                faults,
                null,
                () -> this.transactions.managerFor(
                        attribute, this.texts.resolve(annotation.transactionManager(), Check.TRANSACTION_MANAGER)));
        UniqueConstraint constraint = ListenerResolver.<@Nullable UniqueConstraint>attempt(
                faults,
                null,
                () -> this.strategies.findUniqueConstraint(
                        strategy, this.texts.resolve(annotation.uniqueConstraint(), Check.STRATEGY)));
        boolean atCommit = attempt(
                faults,
                false,
                () -> this.texts.resolveFlag(annotation.claimAtCommit(), this.defaults.claimAtCommit(), Check.STRATEGY)
                        && manager != null
                        && this.strategies.claimsAtCommit(candidate, perPoll, manager));
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
                constraint,
                faults);
        if (manager == null || !faults.isEmpty()) {
            return new Resolved(listener, null);
        }
        ConsumerObserver observer = observers.apply(description);
        ProcessedMessageStore store = this.strategies.store();
        Runnable afterCommit = this.defaults.outages().afterCommitOf(consumer);
        ConflictHandling conflicts = ConflictHandling.of(candidate, this.defaults, consumer, observer);
        ListenerDefinition definition = new ListenerDefinition(
                consumer,
                method,
                new CandidateFactory(
                        strategy,
                        new MessageIdResolver(consumer, keys, this.defaults.onMissingKey()),
                        (versions != null) ? new VersionResolver(consumer, versions) : null,
                        conflicts),
                new KeyFailures(
                        description,
                        !expressed && this.defaults.keyResolver() instanceof HeaderKeyResolver,
                        this.strategies.processedAny(strategy, consumer),
                        this.defaults.outages()::classify,
                        observer),
                () -> new ClaimedTransaction(manager, attribute, store, afterCommit),
                this.strategies.create(strategy, consumer, topics, observer, constraint, atCommit),
                conflicts,
                inbox,
                observer);
        return new Resolved(listener, definition);
    }

    /** Resolves something, or returns the substitute and records the fault. */
    private static <T extends @Nullable Object> T attempt(
            List<ListenerFault> faults, T substitute, Supplier<T> resolution) {
        try {
            return resolution.get();
        } catch (ListenerFault.Found ex) {
            faults.add(ex.fault());
            return substitute;
        }
    }

    private @Nullable InboxRecorder inbox(ListenerCandidate candidate, String consumer) {
        InboxRecorderFactory inboxes = this.defaults.inboxes();
        boolean forAll =
                inboxes != null && inboxes.forAll() && candidate.annotation().strategy() == Strategy.MESSAGE_ID;
        boolean wanted = this.texts.resolveFlag(candidate.annotation().inbox(), forAll, Check.INBOX);
        if (!wanted) {
            return null;
        }
        if (inboxes == null) {
            throw ListenerFault.found(
                    Check.INBOX,
                    "Its messages are to be kept in the inbox, which is a table beside that of processed messages, but"
                            + " the application has a ProcessedMessageStore of its own.",
                    "Remove inbox = \"true\", or use the provided store.");
        }
        String refusal = DeserializerInstrumentation.refusal(candidate.container());
        if (refusal != null) {
            throw ListenerFault.found(
                    Check.INBOX,
                    refusal + ".",
                    "Use a DefaultKafkaConsumerFactory, or remove inbox = \"true\" and idempotency.inbox.enabled.");
        }
        return inboxes.create(consumer, candidate.container());
    }
}
