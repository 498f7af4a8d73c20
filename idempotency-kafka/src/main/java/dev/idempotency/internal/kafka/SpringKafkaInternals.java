package dev.idempotency.internal.kafka;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
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
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * All members of Spring Kafka that are read by reflection, as they are private or not in every version: the checklist for
 * its upgrades. Each says what it is needed for. With a version that lacks one, an application that needs it does not start.
 */
public final class SpringKafkaInternals {

    private static final @Nullable Method CLEAR_THREAD_STATE_FOR =
            ReflectionUtils.findMethod(CommonErrorHandler.class, "clearThreadStateFor", Collection.class);

    private static final Map<String, List<String>> FIELDS = Map.of(
            AbstractMessageListenerContainer.class.getName(),
            List.of("consumerFactory"),
            DefaultKafkaConsumerFactory.class.getName(),
            List.of("keyDeserializerSupplier", "valueDeserializerSupplier", "configureDeserializers"),
            FailedRecordProcessor.class.getName(),
            List.of("failureTracker"),
            "org.springframework.kafka.listener.FailedRecordTracker",
            List.of("recoverer"),
            KafkaTemplate.class.getName(),
            List.of("producerInterceptor"),
            MessagingMessageListenerAdapter.class.getName(),
            List.of("replyTemplate"));

    private SpringKafkaInternals() {}

    public static void registerHints(ReflectionHints hints, @Nullable ClassLoader classLoader) {
        FIELDS.forEach((type, names) ->
                hints.registerTypeIfPresent(classLoader, type, hint -> names.forEach(hint::withField)));
        hints.registerType(AbstractFilteringMessageListener.class, MemberCategory.INVOKE_DECLARED_METHODS);
        hints.registerType(CommonErrorHandler.class, MemberCategory.INVOKE_DECLARED_METHODS);
    }

    /** For the servers, settings and deserializers of a container's consumers. */
    public static @Nullable ConsumerFactory<?, ?> consumerFactoryOf(AbstractMessageListenerContainer<?, ?> container) {
        return (ConsumerFactory<?, ?>) read(AbstractMessageListenerContainer.class, "consumerFactory", container);
    }

    /** For the deserializers that a consumer factory was given as objects, to remember the bytes that they are given. */
    static @Nullable Supplier<?> deserializersOf(DefaultKafkaConsumerFactory<?, ?> factory, boolean keys) {
        String field = keys ? "keyDeserializerSupplier" : "valueDeserializerSupplier";
        return (Supplier<?>) read(DefaultKafkaConsumerFactory.class, field, factory);
    }

    /** For these deserializers, which may have been configured already. */
    static boolean configuresDeserializers(DefaultKafkaConsumerFactory<?, ?> factory) {
        return Boolean.TRUE.equals(read(DefaultKafkaConsumerFactory.class, "configureDeserializers", factory));
    }

    /** For the replies of a listener, to wait for those that are kept. */
    @SuppressWarnings("unchecked") // Replies are of any type.
    public static @Nullable KafkaTemplate<Object, Object> replyTemplateOf(
            MessagingMessageListenerAdapter<?, ?> adapter) {
        return (KafkaTemplate<Object, Object>) read(MessagingMessageListenerAdapter.class, "replyTemplate", adapter);
    }

    /** For the filter of a listener, to ask it about readable records only. */
    public static RecordFilterStrategy<?, ?> filterOf(AbstractFilteringMessageListener<?, ?, ?> filtering) {
        Method getter = ReflectionUtils.findMethod(filtering.getClass(), "getRecordFilterStrategy");
        Assert.state(getter != null, "This version of Spring Kafka does not give the filter of a listener");
        ReflectionUtils.makeAccessible(getter);
        return (RecordFilterStrategy<?, ?>) Objects.requireNonNull(ReflectionUtils.invokeMethod(getter, filtering));
    }

    /**
     * For the check whether an error handler drops what fails: for a missing recoverer its tracker has another lambda
     * than around one that is there, which holds a {@link BiConsumer}.
     */
    public static boolean hasNoRecoverer(FailedRecordProcessor errorHandler) {
        Object tracker = read(FailedRecordProcessor.class, "failureTracker", errorHandler);
        Object recoverer = (tracker != null) ? read(tracker.getClass(), "recoverer", tracker) : null;
        return recoverer != null
                && recoverer.getClass().getName().startsWith(tracker.getClass().getName() + "$$")
                && Arrays.stream(recoverer.getClass().getDeclaredFields())
                        .noneMatch(field -> BiConsumer.class.isAssignableFrom(field.getType()));
    }

    /** For the interceptor of a template, beside which ids are stamped. */
    @SuppressWarnings("unchecked") // As it was given to the template.
    public static <K, V> @Nullable ProducerInterceptor<K, V> producerInterceptorOf(KafkaTemplate<K, V> template) {
        return (ProducerInterceptor<K, V>) read(KafkaTemplate.class, "producerInterceptor", template);
    }

    /** Tells an error handler which partitions a batch that succeeded was of. Not called before Spring Kafka 4.2. */
    public static void clearThreadStateFor(CommonErrorHandler errorHandler, Collection<TopicPartition> partitions) {
        if (CLEAR_THREAD_STATE_FOR != null) {
            ReflectionUtils.invokeMethod(CLEAR_THREAD_STATE_FOR, errorHandler, partitions);
        }
    }

    static @Nullable Object read(Class<?> type, String name, Object object) {
        Field field = ReflectionUtils.findField(type, name);
        if (field == null) {
            throw new IllegalStateException(
                    "@IdempotentListener does not work with Spring Kafka %s: it has no field '%s' in %s. Remove the version of spring-kafka from the build, so that Spring Boot 4 chooses it."
                            .formatted(
                                    KafkaTemplate.class.getPackage().getImplementationVersion(), name, type.getName()));
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, object);
    }
}
