package dev.idempotency.listener;

import dev.idempotency.UnusableKeyException;
import dev.idempotency.definition.ListenerDefinition;
import dev.idempotency.definition.ListenerDefinitionRegistry;
import dev.idempotency.definition.ListenerInspection;
import dev.idempotency.definition.ProtectedMethods;
import dev.idempotency.failure.ErrorHandlerInstaller;
import dev.idempotency.kafka.ContainerFacts;
import dev.idempotency.kafka.SpringKafkaInternals;
import java.lang.reflect.AnnotatedElement;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ExceptionClassifier;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.listener.adapter.FilteringBatchMessageListenerAdapter;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;

/** Configures the container of a protected listener: it remembers what it delivers, and its errors are understood. */
public final class ListenerContainerConfigurer {

    private final ListenerDefinitionRegistry definitions;
    private final ObjectProvider<DestinationTopicResolver> retryTopics;
    private final ObjectProvider<ListenerInspection> inspection;
    private final ErrorHandlerInstaller failures;
    private final PollContainerConfigurer polls;

    public ListenerContainerConfigurer(
            ListenerDefinitionRegistry definitions,
            ObjectProvider<DestinationTopicResolver> retryTopics,
            ObjectProvider<ListenerInspection> inspection,
            ErrorHandlerInstaller failures,
            PollContainerConfigurer polls) {
        this.definitions = definitions;
        this.retryTopics = retryTopics;
        this.inspection = inspection;
        this.failures = failures;
        this.polls = polls;
    }

    void configure(Object bean, AnnotatedElement element, AbstractMessageListenerContainer<?, ?> container) {
        ProtectedMethods methods = this.definitions.define(bean, element, container, TargetCallAdvisor::installOn);
        if (methods == null) {
            return;
        }
        Object given = ContainerFacts.listenerOf(container);
        Object innermost = ContainerFacts.innermostListenerOf(container);
        RepliesToNew.install(innermost, methods.areClaimed());
        if (methods.definitions().stream()
                .anyMatch(definition -> definition.method().replies() != null)) {
            AwaitedReplyTemplate.install(innermost);
        }
        Object prepared =
                methods.hasTransactionPerPoll() ? this.polls.prepare(given, methods, container) : wrap(given, methods);
        container.setupMessageListener(prepared);
        excludeFromRetries(container.getCommonErrorHandler());
        this.retryTopics.ifAvailable(ListenerContainerConfigurer::excludeFromRetries);
        if (!methods.isEmpty()) {
            ListenerDefinition first = methods.representative();
            this.failures.install(container, first.consumer(), first.observer());
        }
        this.inspection.ifAvailable(checks -> checks.inspect(this.definitions.listeners().stream()
                .filter(listener -> listener.container() == container)
                .toList()));
    }

    private static void excludeFromRetries(@Nullable Object errorHandler) {
        if (errorHandler instanceof ExceptionClassifier classifier) {
            classifier.addNotRetryableExceptions(UnusableKeyException.class);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object wrap(@Nullable Object listener, ProtectedMethods methods) {
        if (listener instanceof FilteringBatchMessageListenerAdapter filtering) {
            BatchMessageListener delegate = (BatchMessageListener) filtering.getDelegate();
            return new BatchDeliveryListener(
                    delegate, methods, new ReadableRecordFilter(SpringKafkaInternals.filterOf(filtering)));
        }
        if (listener instanceof BatchMessageListener batch) {
            return new BatchDeliveryListener(batch, methods, null);
        }
        if (listener instanceof MessageListener single) {
            return new RecordDeliveryListener(single, methods);
        }
        throw new IllegalStateException(
                "@IdempotentListener works with record and batch listeners, not with " + listener);
    }
}
