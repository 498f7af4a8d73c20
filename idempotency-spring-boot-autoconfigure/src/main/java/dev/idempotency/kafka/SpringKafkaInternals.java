package dev.idempotency.kafka;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.kafka.listener.adapter.AbstractFilteringMessageListener;
import org.springframework.kafka.listener.adapter.BatchMessagingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.DelegatingInvocableHandler;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.messaging.handler.HandlerMethod;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.backoff.BackOff;

/**
 * All members of Spring Kafka that are read by reflection, as they are private or not in every version: the checklist for
 * its upgrades. Each says what it is needed for, and what happens in a version without it. "Refused" means that the
 * application does not start, and is told which member is missing.
 */
public final class SpringKafkaInternals {

    private static final @Nullable Method CLEAR_THREAD_STATE_FOR =
            ReflectionUtils.findMethod(CommonErrorHandler.class, "clearThreadStateFor", Collection.class);

    private static final String TRACKER = "org.springframework.kafka.listener.FailedRecordTracker";

    /** All fields that are read, by class. */
    private static final Map<String, List<String>> REQUIRED_FIELDS = Map.of(
            AbstractMessageListenerContainer.class.getName(),
            List.of("consumerFactory"),
            DefaultKafkaConsumerFactory.class.getName(),
            List.of("keyDeserializerSupplier", "valueDeserializerSupplier"),
            BatchMessagingMessageListenerAdapter.class.getName(),
            List.of("batchToRecordAdapter"),
            FailedRecordProcessor.class.getName(),
            List.of("failureTracker"),
            TRACKER,
            List.of("backOff", "recoverer"));

    private static final Map<String, List<String>> OPTIONAL_FIELDS = Map.of(
            KafkaTemplate.class.getName(), List.of("producerInterceptor"),
            MessagingMessageListenerAdapter.class.getName(), List.of("handlerMethod", "replyTemplate"),
            HandlerAdapter.class.getName(), List.of("invokerHandlerMethod", "delegatingHandler"),
            DelegatingInvocableHandler.class.getName(), List.of("handlers"));

    private static final String SUPPORTED = "4.";

    private SpringKafkaInternals() {}

    /**
     * Refuses a Spring Kafka that the library was not made for, before anything of it is called that it may not have.
     *
     * @throws IllegalStateException if it is of another generation, or has not what the library cannot do without
     */
    public static void requireSupported() {
        Class<?> part = AbstractMessageListenerContainer.class;
        requireSupported(part.getPackage().getImplementationVersion(), part.getClassLoader());
    }

    static void requireSupported(@Nullable String version, @Nullable ClassLoader classLoader) {
        // Jars that were repackaged do not tell their version. Their members do.
        if (version != null && !version.startsWith(SUPPORTED)) {
            throw unsupported(version, "is of another generation");
        }
        REQUIRED_FIELDS.forEach((type, names) -> names.forEach(name -> {
            if (!hasField(type, name, classLoader)) {
                throw unsupported(version, "has no field '%s' in %s".formatted(name, type));
            }
        }));
    }

    private static boolean hasField(String type, String name, @Nullable ClassLoader classLoader) {
        try {
            return ReflectionUtils.findField(ClassUtils.forName(type, classLoader), name) != null;
        } catch (ClassNotFoundException | LinkageError ex) {
            return false;
        }
    }

    private static IllegalStateException unsupported(@Nullable String version, String why) {
        return new IllegalStateException(
                "@IdempotentListener does not work with Spring Kafka %s: it %s. Supported are 4.0, 4.1 and later 4.x: remove the version of spring-kafka from the build, so that Spring Boot 4 chooses it"
                        .formatted((version != null) ? version : "of unknown version", why));
    }

    /** Tells a native image which members are read. */
    public static void registerHints(ReflectionHints hints, @Nullable ClassLoader classLoader) {
        Stream.of(REQUIRED_FIELDS, OPTIONAL_FIELDS)
                .forEach(fields -> fields.forEach((type, names) ->
                        hints.registerTypeIfPresent(classLoader, type, hint -> names.forEach(hint::withField))));
        hints.registerType(AbstractFilteringMessageListener.class, MemberCategory.INVOKE_DECLARED_METHODS);
        hints.registerType(CommonErrorHandler.class, MemberCategory.INVOKE_DECLARED_METHODS);
    }

    /** Tells the servers, settings and deserializers of a container's consumers. Refused without it. */
    public static @Nullable ConsumerFactory<?, ?> consumerFactoryOf(AbstractMessageListenerContainer<?, ?> container) {
        return (ConsumerFactory<?, ?>) required(AbstractMessageListenerContainer.class, "consumerFactory", container);
    }

    /** Who makes the deserializers that a consumer factory was given as objects. Refused without it. */
    static @Nullable Supplier<?> deserializersOf(DefaultKafkaConsumerFactory<?, ?> factory, boolean keys) {
        return (Supplier<?>) ReflectionUtils.getField(deserializers(keys), factory);
    }

    /** Has them made by another, to remember the bytes that they are given. Refused without it. */
    static void setDeserializers(DefaultKafkaConsumerFactory<?, ?> factory, boolean keys, Supplier<?> deserializers) {
        ReflectionUtils.setField(deserializers(keys), factory, deserializers);
    }

    private static Field deserializers(boolean keys) {
        return requiredField(
                DefaultKafkaConsumerFactory.class, keys ? "keyDeserializerSupplier" : "valueDeserializerSupplier");
    }

    /**
     * What calls the methods behind a container, to send no reply for a duplicate and to see which methods are called.
     * Without it replies to duplicates are sent, and endpoints that were registered by hand are not noticed.
     */
    public static @Nullable HandlerAdapter handlerOf(MessagingMessageListenerAdapter<?, ?> adapter) {
        return (HandlerAdapter) optional(MessagingMessageListenerAdapter.class, "handlerMethod", adapter);
    }

    /** Sends the replies of a listener, to wait for those that are kept. With {@code keepReply} refused without it. */
    @SuppressWarnings("unchecked") // Replies are of any type.
    public static @Nullable KafkaTemplate<Object, Object> replyTemplateOf(
            MessagingMessageListenerAdapter<?, ?> adapter) {
        return (KafkaTemplate<Object, Object>)
                required(MessagingMessageListenerAdapter.class, "replyTemplate", adapter);
    }

    /** The method that is called, if it is one. Without it as without {@link #handlerOf}. */
    public static @Nullable InvocableHandlerMethod onlyMethodOf(HandlerAdapter handler) {
        return (InvocableHandlerMethod) optional(HandlerAdapter.class, "invokerHandlerMethod", handler);
    }

    /** What chooses among several methods. Without it as without {@link #handlerOf}. */
    public static @Nullable DelegatingInvocableHandler methodChoiceOf(HandlerAdapter handler) {
        return (DelegatingInvocableHandler) optional(HandlerAdapter.class, "delegatingHandler", handler);
    }

    /** The methods that are called, one or all among which is chosen. Without them as without {@link #handlerOf}. */
    public static List<Method> methodsOf(HandlerAdapter handler) {
        HandlerMethod single = onlyMethodOf(handler);
        if (single != null) {
            return List.of(single.getMethod());
        }
        DelegatingInvocableHandler choice = methodChoiceOf(handler);
        List<?> several =
                (choice != null) ? (List<?>) optional(DelegatingInvocableHandler.class, "handlers", choice) : null;
        return (several == null)
                ? List.of()
                : several.stream()
                        .map(HandlerMethod.class::cast)
                        .map(HandlerMethod::getMethod)
                        .toList();
    }

    /** The filter of a listener, to ask it for readable records alone. Listeners with a filter are refused without it. */
    public static RecordFilterStrategy<?, ?> filterOf(AbstractFilteringMessageListener<?, ?, ?> filtering) {
        Method getter = ReflectionUtils.findMethod(filtering.getClass(), "getRecordFilterStrategy");
        Assert.state(getter != null, "This version of Spring Kafka does not tell the filter of a listener");
        ReflectionUtils.makeAccessible(getter);
        Object filter = ReflectionUtils.invokeMethod(getter, filtering);
        Assert.state(filter instanceof RecordFilterStrategy, "No filter in " + filtering);
        return (RecordFilterStrategy<?, ?>) filter;
    }

    /** Whether a batch is handed to its listener record by record, which start-up checks refuse. Refused without it. */
    public static boolean hasBatchToRecordAdapter(BatchMessagingMessageListenerAdapter<?, ?> adapter) {
        return required(BatchMessagingMessageListenerAdapter.class, "batchToRecordAdapter", adapter) != null;
    }

    /** How often an error handler retries, which start-up checks compare with the retention. Refused without it. */
    public static @Nullable BackOff backOffOf(FailedRecordProcessor errorHandler) {
        Object tracker = trackerOf(errorHandler);
        return (tracker != null) ? (BackOff) required(tracker.getClass(), "backOff", tracker) : null;
    }

    /**
     * Whether an error handler drops what fails too often, which start-up checks warn of. Refused without its members.
     *
     * <p>Its tracker puts a lambda of its own in the place of a missing recoverer, and another around one that is there:
     * it is told from the first by what it holds. Otherwise nothing is warned of.
     */
    public static boolean hasNoRecoverer(FailedRecordProcessor errorHandler) {
        Object tracker = trackerOf(errorHandler);
        Object recoverer = (tracker != null) ? required(tracker.getClass(), "recoverer", tracker) : null;
        return recoverer != null
                && recoverer.getClass().getName().startsWith(tracker.getClass().getName() + "$$")
                && Arrays.stream(recoverer.getClass().getDeclaredFields())
                        .noneMatch(field -> BiConsumer.class.isAssignableFrom(field.getType()));
    }

    private static @Nullable Object trackerOf(FailedRecordProcessor errorHandler) {
        return required(FailedRecordProcessor.class, "failureTracker", errorHandler);
    }

    /** Tells the interceptor of a template, beside which ids are stamped. With {@code stamp-ids} refused without it. */
    @SuppressWarnings("unchecked") // As it was given to the template.
    public static <K, V> @Nullable ProducerInterceptor<K, V> producerInterceptorOf(KafkaTemplate<K, V> template) {
        return (ProducerInterceptor<K, V>) required(KafkaTemplate.class, "producerInterceptor", template);
    }

    /** Tells an error handler which partitions a batch that succeeded was of. Nobody calls this before Spring Kafka 4.2. */
    public static void clearThreadStateFor(CommonErrorHandler errorHandler, Collection<TopicPartition> partitions) {
        if (CLEAR_THREAD_STATE_FOR != null) {
            ReflectionUtils.invokeMethod(CLEAR_THREAD_STATE_FOR, errorHandler, partitions);
        }
    }

    private static @Nullable Object optional(Class<?> type, String name, Object object) {
        Field field = ReflectionUtils.findField(type, name);
        return (field != null) ? valueOf(field, object) : null;
    }

    private static @Nullable Object required(Class<?> type, String name, Object object) {
        return valueOf(requiredField(type, name), object);
    }

    private static Field requiredField(Class<?> type, String name) {
        Field field = ReflectionUtils.findField(type, name);
        Assert.state(field != null, () -> "This version of Spring Kafka has no field '%s' in %s".formatted(name, type));
        ReflectionUtils.makeAccessible(field);
        return field;
    }

    private static @Nullable Object valueOf(Field field, Object object) {
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, object);
    }
}
