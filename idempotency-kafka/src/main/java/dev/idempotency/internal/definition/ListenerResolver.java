package dev.idempotency.internal.definition;

import dev.idempotency.DeduplicationStrategy;
import dev.idempotency.IdempotentListener;
import dev.idempotency.OnConflict;
import dev.idempotency.StartupCheck;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.database.UniqueConstraint;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.key.ExpressionKeySource;
import dev.idempotency.internal.key.HeaderKeyResolver;
import dev.idempotency.internal.key.KeySource;
import dev.idempotency.internal.key.MessageIdResolver;
import dev.idempotency.internal.key.VersionResolver;
import dev.idempotency.internal.store.ClaimedTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Resolves everything about one listener, and collects all faults. */
final class ListenerResolver {

    private record Faults(List<ListenerFault> found) {

        /** Resolves something, or returns {@code null} and keeps the fault. */
        <T> @Nullable T collect(Supplier<@Nullable T> resolution) {
            try {
                return resolution.get();
            } catch (ListenerFault.Found ex) {
                this.found.add(ex.fault);
                return null;
            }
        }

        <T> T collect(T substitute, Supplier<T> resolution) {
            return Objects.requireNonNullElse(collect(resolution), substitute);
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
        this.strategies = new StrategyResolver(defaults, this.texts);
    }

    /** Resolves a listener; {@code targetSeen} says whether its calls are seen behind all aspects. */
    ProtectedListener resolve(
            ListenerCandidate candidate,
            TopicIdTracker topics,
            boolean targetSeen,
            Function<ConsumerDescription, IdempotencyEventListener> observers) {
        IdempotentListener annotation = candidate.annotation();
        DeduplicationStrategy strategy = annotation.strategy();
        Faults faults = new Faults(new ArrayList<>());
        String consumer = faults.collect(candidate.name(), () -> this.identities.consumerOf(candidate));
        faults.collect(() -> this.strategies.require(strategy, consumer));
        TransactionAttribute attribute = this.transactions.attributesOf(candidate.method(), candidate.targetClass());
        faults.found()
                .addAll(this.strategies.validate(annotation, attribute, candidate.hasRetryTopics(this.beanFactory)));
        boolean perPoll = faults.collect(
                false,
                () -> this.texts.resolveFlag(
                        annotation.transactionPerPoll(), false, StartupCheck.TRANSACTION_PER_POLL));
        ReplyStore replies = faults.collect(() -> ReplyStore.of(candidate, this.defaults.results(), perPoll));
        ListenerMethod method = new ListenerMethod(candidate.method(), targetSeen, replies);
        String key = text(annotation.key(), StartupCheck.KEY_EXPRESSION, faults);
        KeySource keys = faults.collect(
                KeySource.of(this.defaults.keyResolver()),
                () -> this.identities.keysOf(candidate, key, method, topics));
        String version = (strategy == DeduplicationStrategy.VERSION)
                ? text(annotation.version(), StartupCheck.KEY_EXPRESSION, faults)
                : "";
        ExpressionKeySource versions = faults.collect(() -> this.identities.parse("version", version, method, topics));
        String lockExpression = text(annotation.lock(), StartupCheck.LOCK, faults);
        ExpressionKeySource lock = faults.collect(() -> this.identities.parse("lock", lockExpression, method, topics));
        if (lock != null && this.defaults.locks() == null) {
            String what =
                    "lock = \"%s\" needs the database of the provided store, but the application has a ProcessedMessageStore of its own.";
            faults.found()
                    .add(new ListenerFault(
                            StartupCheck.LOCK,
                            what.formatted(lockExpression),
                            "Remove it, or use the provided store."));
        }
        Duration retention = faults.collect(
                this.defaults.retention(),
                () -> this.strategies.retentionOf(
                        this.texts.resolve(annotation.retention(), StartupCheck.RETENTION_VALUE), consumer));
        PlatformTransactionManager manager = faults.collect(() -> this.transactions.managerFor(
                attribute, this.texts.resolve(annotation.transactionManager(), StartupCheck.TRANSACTION_MANAGER)));
        UniqueConstraint constraint = faults.collect(() -> this.strategies.findUniqueConstraint(
                strategy, this.texts.resolve(annotation.uniqueConstraint(), StartupCheck.STRATEGY)));
        boolean atCommit = faults.collect(
                false,
                () -> this.texts.resolveFlag(
                                annotation.claimAtCommit(), this.defaults.claimAtCommit(), StartupCheck.STRATEGY)
                        && manager != null
                        && this.strategies.claimsAtCommit(candidate, perPoll, manager));
        OnConflict onConflict = faults.collect(
                OnConflict.WARN, () -> this.texts.resolveConflict(annotation.onConflict(), this.defaults.onConflict()));
        boolean received = DeserializerInstrumentation.isPossibleIn(candidate.container());
        if (!received) {
            faults.found()
                    .add(new ListenerFault(
                            StartupCheck.CONSUMER_FACTORY,
                            "Its consumer factory is no DefaultKafkaConsumerFactory.",
                            "Use one, as Spring Boot's is, and let its post-processors wrap the consumers."));
        }
        InboxRecorder inbox = received ? faults.collect(() -> inbox(candidate, consumer)) : null;
        ConsumerDescription description = new ConsumerDescription(
                consumer,
                candidate.name(),
                ListenerContainers.topicsOf(candidate.container()),
                candidate.container().getGroupId(),
                (versions != null) ? "%s, version from %s".formatted(keys, versions) : keys.toString(),
                retention,
                strategy);
        ListenerDefinition definition = null;
        if (manager != null && faults.found().isEmpty()) {
            IdempotencyEventListener observer = observers.apply(description);
            Runnable afterCommit = this.defaults.outages().afterCommitOf(consumer);
            ConflictHandling conflicts =
                    ConflictHandling.of(onConflict, candidate, this.defaults.receivedBytes(), observer);
            boolean fromHeaders = !StringUtils.hasText(key)
                    && lock == null
                    && this.defaults.keyResolver() instanceof HeaderKeyResolver;
            definition = new ListenerDefinition(
                    consumer,
                    method,
                    new InboundMessageFactory(
                            strategy,
                            new MessageIdResolver(consumer, keys, this.defaults.onMissingKey()),
                            (versions != null) ? new VersionResolver(consumer, versions) : null,
                            conflicts,
                            lock),
                    new KeyFailures(
                            description,
                            fromHeaders,
                            this.strategies.processedAny(strategy, consumer),
                            this.defaults.outages()::classify,
                            observer),
                    () -> new ClaimedTransaction(manager, attribute, this.defaults.store(), afterCommit),
                    this.strategies.create(strategy, consumer, topics, observer, constraint, atCommit),
                    conflicts,
                    (lock != null) ? this.defaults.locks() : null,
                    // No other attempt may claim the same id while its steps run.
                    strategy == DeduplicationStrategy.MESSAGE_ID && !atCommit && this.defaults.steps() != null
                            ? this.defaults.steps().reportedTo(observer)
                            : null,
                    inbox,
                    observer);
        }
        return new ProtectedListener(
                description,
                annotation,
                candidate.bean(),
                candidate.method(),
                candidate.container(),
                manager,
                attribute,
                StringUtils.hasText(key) ? key : null,
                (versions != null) ? version : null,
                (lock != null) ? lockExpression : null,
                constraint,
                faults.found(),
                definition);
    }

    private String text(String value, StartupCheck check, Faults faults) {
        return faults.collect("", () -> this.texts.resolve(value, check));
    }

    private @Nullable InboxRecorder inbox(ListenerCandidate candidate, String consumer) {
        InboxRecorder.Factory inboxes = this.defaults.inboxes();
        boolean byDefault =
                this.defaults.inboxByDefault() && candidate.annotation().strategy() == DeduplicationStrategy.MESSAGE_ID;
        if (!this.texts.resolveFlag(candidate.annotation().inbox(), byDefault, StartupCheck.INBOX)) {
            return null;
        }
        if (inboxes == null) {
            boolean ownStore = this.defaults.strategies() == null;
            throw ListenerFault.found(
                    StartupCheck.INBOX,
                    "Its messages shall be stored in the inbox, but "
                            + (ownStore
                                    ? "the application defines its own ProcessedMessageStore."
                                    : "idempotency-operators is not on the class path."),
                    (ownStore ? "Use the provided store" : "Add dev.idempotency:idempotency-operators")
                            + ", or remove inbox = \"true\" and idempotency.inbox.enabled.");
        }
        return inboxes.create(consumer, candidate.container());
    }
}
