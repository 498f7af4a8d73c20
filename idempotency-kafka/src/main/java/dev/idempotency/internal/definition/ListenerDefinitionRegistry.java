package dev.idempotency.internal.definition;

import dev.idempotency.StartupCheck;
import dev.idempotency.event.ConsumerDescription;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.internal.event.ConsumerRegistry;
import dev.idempotency.internal.event.IdempotencyEventNotifier;
import dev.idempotency.internal.kafka.EarlyLifecycle;
import dev.idempotency.internal.kafka.ListenerContainers;
import dev.idempotency.internal.kafka.TopicIdTracker;
import dev.idempotency.internal.kafka.TopicLookup;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;

/**
 * The protected listeners of an application, defined once per container. Before any container starts, the log says in
 * one block which they are.
 */
public final class ListenerDefinitionRegistry extends EarlyLifecycle implements ConsumerRegistry {

    private static final Logger logger = LoggerFactory.getLogger(ListenerDefinitionRegistry.class);

    private final ConfigurableListableBeanFactory beanFactory;
    private final ListenerResolver resolver;
    private final ListenerDefaults defaults;
    private final TopicLookup topics;
    private final Map<String, IdempotencyEventListener> observers = new ConcurrentHashMap<>();
    private final List<ProtectedListener> listeners = new CopyOnWriteArrayList<>();
    private final PollSharingResolver polls;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean kafkaTransactionsRemoved = new AtomicBoolean();
    private volatile Consumer<List<ProtectedListener>> inspection = found -> {};

    public ListenerDefinitionRegistry(
            ConfigurableListableBeanFactory beanFactory, ListenerDefaults defaults, TopicLookup topics) {
        this.beanFactory = beanFactory;
        this.resolver = new ListenerResolver(beanFactory, defaults);
        this.defaults = defaults;
        this.topics = topics;
        this.polls =
                new PollSharingResolver(defaults.transactionPerPoll(), beanFactory, new AnnotationTexts(beanFactory));
    }

    /** All that have been defined: one per method and container. */
    public List<ProtectedListener> listeners() {
        return List.copyOf(this.listeners);
    }

    @Override
    public List<ConsumerDescription> consumers() {
        return this.listeners.stream().map(ProtectedListener::consumer).toList();
    }

    /**
     * Defines the listeners behind a container, as far as their faults allow; {@code null} if none is protected.
     *
     * @param element what has the {@code @KafkaListener}: a method, or the class of several
     * @param installation watches calls of a bean's method behind all aspects, and returns whether it can
     */
    @Nullable
    public ProtectedMethods define(
            Object bean,
            AnnotatedElement element,
            AbstractMessageListenerContainer<?, ?> container,
            BiPredicate<Object, Method> installation) {
        List<ListenerCandidate> candidates = ListenerCandidate.allOf(bean, element, container);
        if (candidates.isEmpty()) {
            return null;
        }
        removeKafkaTransactions(container);
        ListenerContainers.removeBatchToRecordAdapter(container);
        TopicIdTracker topics = new TopicIdTracker(this.topics, container);
        List<ProtectedListener> resolved = candidates.stream()
                .map(candidate -> this.resolver.resolve(
                        candidate, topics, installation.test(bean, candidate.method()), this::observerOf))
                .toList();
        PollSharingResolver.Decision polls = this.polls.decide(candidates, resolved);
        boolean deadLetters = candidates.get(0).readsDeadLetters(this.beanFactory);
        Map<Method, ListenerDefinition> definitions = new LinkedHashMap<>();
        for (ProtectedListener listener : resolved) {
            listener.faults().addAll(polls.faults());
            if (!deadLetters) {
                this.listeners.add(listener);
            }
            if (listener.definition() != null && listener.faults().isEmpty()) {
                definitions.put(listener.method(), listener.definition());
            }
        }
        if (!polls.demanded() && !polls.obstacles().isEmpty() && container.getMainListenerId() == null) {
            logger.info(
                    "idempotency.transaction-per-poll=true, but consumer '{}' keeps a transaction per record: {}",
                    resolved.get(0).consumer().name(),
                    polls.obstacles().stream().map(ListenerFault::what).collect(Collectors.joining(" ")));
        }
        boolean errorHandler = resolved.get(0).kafkaListeners().anyMatch(listener -> !listener.errorHandler()
                .isEmpty());
        return new ProtectedMethods(definitions, polls.isGranted(), errorHandler, topics, new ConcurrentHashMap<>());
    }

    /** Sets what looks at listeners that are defined later, before their container can start, and throws if it must not. */
    public void inspectLater(Consumer<List<ProtectedListener>> inspection) {
        this.inspection = inspection;
    }

    /** Called when a container of protected listeners is complete. */
    public void inspect(AbstractMessageListenerContainer<?, ?> container) {
        this.inspection.accept(this.listeners.stream()
                .filter(listener -> listener.container() == container)
                .toList());
    }

    private void removeKafkaTransactions(AbstractMessageListenerContainer<?, ?> container) {
        if (ListenerContainers.removeKafkaTransactions(container) && !this.kafkaTransactionsRemoved.getAndSet(true)) {
            logger.warn("Kafka transactions are switched off for the containers of @IdempotentListener: the database's"
                    + " commit decides, and the claim drops what is redelivered. Send records through an outbox"
                    + " table. See " + StartupCheck.DOCUMENTATION + "failures.md#kafka-transactions-on-the-container");
        }
    }

    /** One per consumer, though it may have several containers: one for each retry topic. */
    private IdempotencyEventListener observerOf(ConsumerDescription consumer) {
        IdempotencyEventListener observer = this.observers.computeIfAbsent(
                consumer.name(),
                name -> IdempotencyEventNotifier.of(this.defaults.observers()).forConsumer(consumer));
        if (isRunning()) {
            log(List.of(consumer));
        }
        return observer;
    }

    private void log(List<ConsumerDescription> consumers) {
        List<String> lines = consumers.stream()
                .filter(consumer -> this.logged.add(consumer.name()))
                .map(consumer -> "%n  '%s': %s on %s, %s"
                        .formatted(consumer.name(), consumer.listener(), consumer.topics(), recognition(consumer)))
                .toList();
        if (!lines.isEmpty()) {
            logger.info("Idempotent consumers: {}{}", lines.size(), String.join("", lines));
        }
    }

    private static String recognition(ConsumerDescription consumer) {
        return consumer.strategy().isForgetful()
                ? "key from %s, remembered for %s"
                        .formatted(
                                consumer.keySource(),
                                DurationFormatterUtils.print(consumer.retention(), DurationFormat.Style.COMPOSITE))
                : "recognised by " + consumer.keySource();
    }

    @Override
    public void start() {
        super.start();
        log(consumers());
    }
}
