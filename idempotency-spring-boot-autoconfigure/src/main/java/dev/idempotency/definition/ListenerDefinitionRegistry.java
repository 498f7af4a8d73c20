package dev.idempotency.definition;

import dev.idempotency.IdempotentListener;
import dev.idempotency.database.LongestRetention;
import dev.idempotency.definition.ListenerFault.Kind;
import dev.idempotency.failure.FailureClassifier;
import dev.idempotency.inbox.InboxRecorder;
import dev.idempotency.inbox.ListenerInboxes;
import dev.idempotency.kafka.TopicIdLookup;
import dev.idempotency.kafka.TopicIdTracker;
import dev.idempotency.key.ExpressionKeySource;
import dev.idempotency.key.HeaderKeyResolver;
import dev.idempotency.key.KeySource;
import dev.idempotency.key.MessageIdResolver;
import dev.idempotency.listener.TargetCallAdvisor;
import dev.idempotency.observe.CompositeConsumerObserver;
import dev.idempotency.observe.ConsumerDescription;
import dev.idempotency.observe.ConsumerObserver;
import dev.idempotency.store.FailureTranslatingStore;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/** Works out, once per container, all that is to be known of its listener. */
public final class ListenerDefinitionRegistry implements DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(ListenerDefinitionRegistry.class);

    private final ConfigurableListableBeanFactory beanFactory;
    private final ListenerDefaults defaults;
    private final AnnotationTextResolver texts;
    private final ConsumerNameResolver names;
    private final TransactionResolver transactions;
    private final TopicIdLookup topicIds = new TopicIdLookup();
    private final Map<String, ConsumerObserver> observers = new ConcurrentHashMap<>();
    private final List<ProtectedListener> listeners = new CopyOnWriteArrayList<>();

    public ListenerDefinitionRegistry(ConfigurableListableBeanFactory beanFactory, ListenerDefaults defaults) {
        this.beanFactory = beanFactory;
        this.defaults = defaults;
        this.texts = new AnnotationTextResolver(beanFactory);
        this.names = new ConsumerNameResolver(this.texts);
        this.transactions = new TransactionResolver(beanFactory);
    }

    /** All that have been defined: one a method and container. */
    public List<ProtectedListener> listeners() {
        return List.copyOf(this.listeners);
    }

    /** The protected methods behind a container, or {@code null} if there are none. */
    @Nullable
    public ProtectedMethods endpointOf(
            Object bean, AnnotatedElement element, AbstractMessageListenerContainer<?, ?> container) {
        Class<?> targetClass = AopUtils.getTargetClass(bean);
        Set<Method> methods = (element instanceof Method method)
                ? Set.of(AopUtils.getMostSpecificMethod(method, targetClass))
                : MethodIntrospector.selectMethods(
                        targetClass,
                        (Method method) -> AnnotatedElementUtils.hasAnnotation(method, KafkaHandler.class));
        Map<Method, ListenerDefinition> definitions = new LinkedHashMap<>();
        TopicIdTracker topics = new TopicIdTracker(this.topicIds, container);
        boolean annotated = false;
        for (Method method : methods) {
            IdempotentListener annotation = IdempotentListenerAnnotations.find(method, targetClass);
            if (annotation != null) {
                annotated = true;
                ListenerDefinition definition = define(annotation, bean, method, element, container, topics);
                if (definition != null) {
                    definitions.put(method, definition);
                }
            }
        }
        return annotated ? new ProtectedMethods(definitions, topics) : null;
    }

    /** Defines a listener, or returns {@code null} if its faults do not allow that; they are told by {@link #listeners()}. */
    private @Nullable ListenerDefinition define(
            IdempotentListener annotation,
            Object bean,
            Method method,
            AnnotatedElement element,
            AbstractMessageListenerContainer<?, ?> container,
            TopicIdTracker topics) {
        Class<?> targetClass = AopUtils.getTargetClass(bean);
        String listener = ConsumerNameResolver.ofListener(method, targetClass, element);
        ListenerFaultCollector faults = new ListenerFaultCollector();
        String consumer = faults.collect(listener, () -> this.names.of(annotation, listener, container));
        ListenerArguments arguments = new ListenerArguments(method);
        String expression = faults.collect("", () -> this.texts.resolve(annotation.key(), Kind.KEY_EXPRESSION));
        boolean transactionPerPoll = annotation.transactionPerPoll() && PollTransactions.areOf(container);
        KeySource keys = faults.collect(
                KeySource.of(this.defaults.keyResolver()),
                () -> keySource(expression, arguments, transactionPerPoll, topics));
        Duration retention =
                faults.collect(this.defaults.retention(), () -> onlyRetention(consumer, retention(annotation)));
        TransactionAttribute attribute = this.transactions.attributesOf(method, targetClass);
        PlatformTransactionManager manager = faults.<@Nullable PlatformTransactionManager>collect(
                null,
                () -> this.transactions.managerFor(
                        attribute, this.texts.resolve(annotation.transactionManager(), Kind.TRANSACTION_MANAGER)));
        if (transactionPerPoll) {
            faults.addAll(PollTransactions.faultsOf(method, targetClass, element, attribute, container));
        }
        boolean targetSeen = faults.collect(false, () -> TargetCallAdvisor.installOn(bean, method));
        InboxRecorder inbox = faults.collect(InboxRecorder.NONE, () -> inbox(annotation, consumer, container));
        ConsumerDescription description = new ConsumerDescription(
                consumer, listener, topics(container), container.getGroupId(), keys.toString(), retention);
        ProtectedListener defined = new ProtectedListener(
                description,
                bean,
                method,
                container,
                manager,
                attribute,
                StringUtils.hasText(expression) ? expression : null,
                faults.found());
        if (calls(container, method, targetClass)) {
            this.listeners.add(defined);
        }
        if (manager == null || !faults.found().isEmpty()) {
            return null;
        }
        ConsumerObserver observer = this.observers.computeIfAbsent(consumer, name -> introduce(description));
        return new ListenerDefinition(
                consumer,
                method,
                arguments,
                new MessageIdResolver(consumer, keys, this.defaults.onMissingKey()),
                keyFailures(description, StringUtils.hasText(expression), observer),
                new ListenerTransaction(manager, attribute),
                transactionPerPoll,
                targetSeen,
                new FailureTranslatingStore(this.defaults.store()),
                inbox,
                observer);
    }

    private KeyFailures keyFailures(ConsumerDescription consumer, boolean expressed, ConsumerObserver observer) {
        return new KeyFailures(
                consumer.name(),
                consumer.keySource(),
                !expressed && this.defaults.keyResolver() instanceof HeaderKeyResolver,
                new FailureTranslatingStore(this.defaults.store()),
                this.beanFactory.getBean(FailureClassifier.class),
                observer);
    }

    /** Not the dead-letter container of retry topics, which is made of the same annotation and calls another method. */
    private static boolean calls(
            AbstractMessageListenerContainer<?, ?> container, Method method, Class<?> targetClass) {
        CalledMethods called = CalledMethods.of(container);
        return called == null
                || called.methods().stream().anyMatch(each -> AopUtils.getMostSpecificMethod(each, targetClass)
                        .equals(method));
    }

    private InboxRecorder inbox(
            IdempotentListener annotation, String consumer, AbstractMessageListenerContainer<?, ?> container) {
        ListenerInboxes inboxes = this.defaults.inboxes();
        boolean wanted = annotation.inbox() || (inboxes != null && inboxes.forAll());
        if (!wanted) {
            return InboxRecorder.NONE;
        }
        if (inboxes == null) {
            throw ListenerFaultCollector.found(
                    Kind.INBOX,
                    "Its messages are to be kept in the inbox, which is a table beside that of processed messages, but"
                            + " the application has a ProcessedMessageStore of its own.",
                    "Remove inbox = true, or use the provided store.");
        }
        String refusal = inboxes.refusal(container);
        if (refusal != null) {
            throw ListenerFaultCollector.found(
                    Kind.INBOX,
                    refusal + ".",
                    "Use a DefaultKafkaConsumerFactory, or remove inbox = true and idempotency.inbox.enabled.");
        }
        return inboxes.open(consumer, container);
    }

    /** Once a consumer, though it may have several containers: one for each retry topic. */
    private ConsumerObserver introduce(ConsumerDescription consumer) {
        logger.info(
                "Idempotent consumer '{}': {} on {}, key from {}, remembered for {}",
                consumer.name(),
                consumer.listener(),
                consumer.topics(),
                consumer.keySource(),
                DurationFormatterUtils.print(consumer.retention(), DurationFormat.Style.COMPOSITE));
        return CompositeConsumerObserver.of(this.defaults.observers(), consumer);
    }

    private Duration retention(IdempotentListener annotation) {
        String retention = this.texts.resolve(annotation.retention(), Kind.RETENTION);
        try {
            return StringUtils.hasText(retention)
                    ? LongestRetention.require(
                            "@IdempotentListener(retention = …)", DurationFormatterUtils.detectAndParse(retention))
                    : this.defaults.retention();
        } catch (LongestRetention.ExceededException ex) {
            throw ListenerFaultCollector.found(
                    Kind.RETENTION,
                    ex.getMessage() + ".",
                    "Write @IdempotentListener(retention = \"3650d\"), or less.");
        } catch (IllegalArgumentException | ArithmeticException ex) {
            throw ListenerFaultCollector.found(
                    Kind.RETENTION,
                    "The retention '%s' is no duration.".formatted(retention),
                    "Write @IdempotentListener(retention = \"30d\"), or leave it to idempotency.retention.");
        }
    }

    /** Listeners of one consumer share their rows: the shorter retention would forget the other's messages. */
    private Duration onlyRetention(String consumer, Duration retention) {
        for (ProtectedListener other : this.listeners) {
            Duration others = other.consumer().retention();
            if (other.consumer().name().equals(consumer) && !others.equals(retention)) {
                throw ListenerFaultCollector.found(
                        Kind.RETENTION,
                        "The consumer '%s' is to remember its messages for %s and for %s."
                                .formatted(consumer, others, retention),
                        "State one @IdempotentListener(retention = …) for all its methods.");
            }
        }
        return retention;
    }

    private KeySource keySource(
            String expression, ListenerArguments arguments, boolean fromRecord, TopicIdTracker topics) {
        if (!StringUtils.hasText(expression)) {
            return KeySource.of(this.defaults.keyResolver());
        }
        try {
            return fromRecord
                    ? ExpressionKeySource.ofRecord(expression, this.beanFactory, topics)
                    : new ExpressionKeySource(expression, arguments.names(), this.beanFactory, topics);
        } catch (IllegalArgumentException ex) {
            throw ListenerFaultCollector.found(
                    Kind.KEY_EXPRESSION,
                    ex.getMessage() + ".",
                    fromRecord
                            ? "Take the key from the record, as in #record.value().id: with transactionPerPoll = true"
                                    + " records are claimed before they are converted to the method's arguments."
                            : "Mend the expression in @IdempotentListener(key = …).");
        }
    }

    @Override
    public void destroy() {
        this.topicIds.close();
    }

    private static List<String> topics(AbstractMessageListenerContainer<?, ?> container) {
        ContainerProperties properties = container.getContainerProperties();
        if (properties.getTopics() != null) {
            return List.of(properties.getTopics());
        }
        if (properties.getTopicPattern() != null) {
            return List.of(properties.getTopicPattern().pattern());
        }
        TopicPartitionOffset[] partitions = properties.getTopicPartitions();
        return (partitions == null)
                ? List.of()
                : Arrays.stream(partitions)
                        .map(TopicPartitionOffset::getTopic)
                        .distinct()
                        .toList();
    }
}
