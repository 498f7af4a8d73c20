package dev.idempotency.listener;

import dev.idempotency.UnusableKeyException;
import dev.idempotency.definition.CalledMethods;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.definition.ListenerInspection;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.ErrorHandlerInstaller;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.ExceptionClassifier;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.AbstractFilteringMessageListener;
import org.springframework.kafka.listener.adapter.FilteringBatchMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.FilteringMessageListenerAdapter;
import org.springframework.kafka.listener.adapter.RecordFilterStrategy;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/** Prepares the container of a protected listener: it remembers what it delivers, and its errors are understood. */
public final class ListenerContainerConfigurer {

    private final ListenerDefinitionRegistry definitions;
    private final ObjectProvider<DestinationTopicResolver> retryTopics;
    private final ObjectProvider<ListenerInspection> inspection;
    private final ErrorHandlerInstaller failures;

    public ListenerContainerConfigurer(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<DestinationTopicResolver> retryTopics,
            ObjectProvider<ListenerInspection> inspection,
            ErrorHandlerInstaller failures) {
        this.definitions = definitions;
        this.retryTopics = retryTopics;
        this.inspection = inspection;
        this.failures = failures;
    }

    void prepare(Object bean, AnnotatedElement element, AbstractMessageListenerContainer<?, ?> container) {
        ProtectedMethods endpoint = this.definitions.endpointOf(bean, element, container);
        if (endpoint == null) {
            return;
        }
        CalledMethods called = CalledMethods.of(container);
        Object given = listenerOf(container);
        RepliesToNew.install(innermost(given), called != null && called.areClaimed());
        container.setupMessageListener(UnpositionedListener.of(wrap(given, endpoint), given, bean));
        excludeFromRetries(container.getCommonErrorHandler());
        this.retryTopics.ifAvailable(ListenerContainerConfigurer::excludeFromRetries);
        if (!endpoint.isEmpty()) {
            this.failures.install(container, endpoint.consumer(), endpoint.observer());
        }
        this.inspection
                .getIfAvailable(() -> ListenerInspection.OF_FAULTS)
                .inspect(this.definitions.listeners().stream()
                        .filter(protectedListener -> protectedListener.container() == container)
                        .toList());
    }

    /** The listener without the advice of its container, which is put around whatever is set up. */
    public static @Nullable Object listenerOf(AbstractMessageListenerContainer<?, ?> container) {
        Object listener = container.getContainerProperties().getMessageListener();
        Object advised = (listener != null) ? AopProxyUtils.getSingletonTarget(listener) : null;
        return (advised != null) ? advised : listener;
    }

    private static @Nullable Object innermost(@Nullable Object listener) {
        Object innermost = listener;
        while (innermost instanceof DelegatingMessageListener<?> delegating) {
            innermost = delegating.getDelegate();
        }
        return innermost;
    }

    private static void excludeFromRetries(@Nullable Object errorHandler) {
        if (errorHandler instanceof ExceptionClassifier classifier) {
            classifier.addNotRetryableExceptions(UnusableKeyException.class);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object wrap(@Nullable Object listener, ProtectedMethods endpoint) {
        ListenerDefinition perPoll = endpoint.perPoll();
        if (perPoll != null && listener instanceof FilteringMessageListenerAdapter filtering) {
            MessageListener delegate = (MessageListener) filtering.getDelegate();
            return new PollDeliveryListener(delegate, endpoint, perPoll, filterOf(filtering));
        }
        if (perPoll != null && listener instanceof MessageListener single) {
            return new PollDeliveryListener(single, endpoint, perPoll, null);
        }
        if (listener instanceof FilteringBatchMessageListenerAdapter filtering) {
            BatchMessageListener delegate = (BatchMessageListener) filtering.getDelegate();
            return new BatchDeliveryListener(delegate, endpoint, new ReadableRecordFilter(filterOf(filtering)));
        }
        if (listener instanceof BatchMessageListener batch) {
            return new BatchDeliveryListener(batch, endpoint, null);
        }
        if (listener instanceof MessageListener single) {
            return new RecordDeliveryListener(single, endpoint);
        }
        throw new IllegalStateException(
                "@IdempotentListener works with record and batch listeners, not with " + listener);
    }

    private static RecordFilterStrategy<?, ?> filterOf(AbstractFilteringMessageListener<?, ?, ?> filtering) {
        Method getter = ReflectionUtils.findMethod(filtering.getClass(), "getRecordFilterStrategy");
        Assert.state(getter != null, "This version of Spring Kafka does not tell the filter of a listener");
        ReflectionUtils.makeAccessible(getter);
        Object filter = ReflectionUtils.invokeMethod(getter, filtering);
        Assert.state(filter instanceof RecordFilterStrategy, "No filter in " + filtering);
        return (RecordFilterStrategy<?, ?>) filter;
    }
}
