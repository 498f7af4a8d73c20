package dev.idempotency.internal.failure;

import dev.idempotency.ConsumerWaitingException;
import dev.idempotency.ConsumerWaitingException.Awaited;
import dev.idempotency.event.IdempotencyEventListener;
import dev.idempotency.failure.FailureKind;
import dev.idempotency.internal.kafka.DeserializerInstrumentation;
import dev.idempotency.internal.kafka.EarlyLifecycle;
import dev.idempotency.internal.kafka.KafkaCoordinates;
import dev.idempotency.internal.kafka.ProducerSerializers;
import dev.idempotency.internal.kafka.RawRecordProducer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.retrytopic.DestinationTopicResolver;

/**
 * Installs error handling in the containers of protected listeners: an error handler if they have none, and a wrapper
 * around it. {@code @RetryableTopic} sets its own late, so containers are looked at again before they start.
 */
public final class ErrorHandlerInstaller extends EarlyLifecycle implements DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(ErrorHandlerInstaller.class);

    private final BackOffSettings retries;
    private final @Nullable String deadLetterSuffix;
    private final OutageRegistry outages;
    private final DeserializerInstrumentation receivedBytes;
    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final @Nullable String applicationName;
    private final ProducerSerializers serializers;
    private final ConsumerPauses pauses = new ConsumerPauses();
    private final Map<AbstractMessageListenerContainer<?, ?>, ContainerSuspension> suspensions =
            new ConcurrentHashMap<>();
    private @Nullable RawRecordProducer producer;

    /** The suffix makes the name of a dead-letter topic of a topic's; {@code null} for no dead letters. */
    public ErrorHandlerInstaller(
            BackOffSettings retries,
            @Nullable String deadLetterSuffix,
            OutageRegistry outages,
            DeserializerInstrumentation receivedBytes,
            Supplier<@Nullable ProducerFactory<?, ?>> producerFactory,
            @Nullable String applicationName) {
        this.retries = retries;
        this.deadLetterSuffix = deadLetterSuffix;
        this.outages = outages;
        this.receivedBytes = receivedBytes;
        this.producerFactory = producerFactory;
        this.applicationName = applicationName;
        this.serializers = new ProducerSerializers(() -> Objects.requireNonNull(producerFactory.get()));
    }

    /** Failures are reported under the name of the first of the container's consumers. */
    public void install(
            AbstractMessageListenerContainer<?, ?> container,
            List<String> consumers,
            IdempotencyEventListener observer,
            Supplier<@Nullable DestinationTopicResolver> retryTopics) {
        String consumer = consumers.get(0);
        Outage outage = this.outages.share(consumers);
        outage.setObserver(observer);
        ContainerSuspension suspension = new ContainerSuspension(outage, this.pauses, observer, container, retryTopics);
        boolean provided = container.getCommonErrorHandler() == null;
        if (provided && this.deadLetterSuffix != null) {
            this.receivedBytes.rememberIn(container);
        }
        this.receivedBytes.deliverUnreadableIn(
                container,
                failure -> !OutageRegistry.isServiceUnavailable(failure)
                        && this.outages.classify(failure) == FailureKind.MESSAGE);
        if (provided) {
            container.setCommonErrorHandler(
                    new RetryingErrorHandler(consumer, recoverer(consumer, observer), outage, this.retries));
        }
        wrapErrorHandler(container, suspension);
        // It would commit records that the container has polled and not yet delivered.
        container.getContainerProperties().setFixTxOffsets(false);
        this.receivedBytes.forgetBetweenPolls(container);
        this.suspensions.put(container, suspension);
    }

    /** The error handler that is wrapped: the application's own, or the provided one. */
    public static @Nullable CommonErrorHandler handlerOf(AbstractMessageListenerContainer<?, ?> container) {
        CommonErrorHandler handler = container.getCommonErrorHandler();
        return (handler instanceof SuspendingErrorHandler outages) ? outages.delegate() : handler;
    }

    public static boolean isProvided(AbstractMessageListenerContainer<?, ?> container) {
        return handlerOf(container) instanceof RetryingErrorHandler;
    }

    private static void wrapErrorHandler(
            AbstractMessageListenerContainer<?, ?> container, ContainerSuspension suspension) {
        CommonErrorHandler handler = container.getCommonErrorHandler();
        if (handler != null && !(handler instanceof SuspendingErrorHandler)) {
            container.setCommonErrorHandler(new SuspendingErrorHandler(handler, suspension));
        }
    }

    private ConsumerAwareRecordRecoverer recoverer(String consumer, IdempotencyEventListener observer) {
        if (this.deadLetterSuffix != null) {
            return publisher(consumer, this.deadLetterSuffix, observer);
        }
        return (record, kafkaConsumer, exception) -> {
            throw new ConsumerWaitingException(
                    Awaited.DEAD_LETTERS,
                    ("Consumer '%s' has used up the attempts of %s, and idempotency.dead-letters.enabled is false. It"
                                    + " is not skipped: its partition waits until it succeeds. Enable dead"
                                    + " letters, or define an error handler that skips it.")
                            .formatted(consumer, KafkaCoordinates.of(record)),
                    DeadLetterPublisher.quotesPayload(exception) ? null : exception);
        };
    }

    private synchronized DeadLetterPublisher publisher(
            String consumer, String suffix, IdempotencyEventListener observer) {
        if (this.producer == null) {
            // Looked for once: that takes its time, and an application may have many listeners.
            ProducerFactory<?, ?> factory = this.producerFactory.get();
            if (factory == null) {
                throw new IllegalStateException(("Consumer '%s' needs a ProducerFactory for its dead letters, but there"
                                + " is none, or there are several and none is @Primary. Define one, define an error"
                                + " handler, or set idempotency.dead-letters.enabled=false.")
                        .formatted(consumer));
            }
            this.producer =
                    new RawRecordProducer(factory.getConfigurationProperties(), this.applicationName, "dead-letters");
            this.producer.postProcessWith(factory.getPostProcessors());
        }
        return new DeadLetterPublisher(
                consumer, suffix, this.producer, this.serializers, this.receivedBytes.records(), observer);
    }

    @Override
    public void start() {
        this.suspensions.forEach(ErrorHandlerInstaller::wrapErrorHandler);
        super.start();
    }

    @Override
    public synchronized void destroy() {
        this.pauses.close();
        this.serializers.close();
        if (this.producer != null) {
            this.producer.close();
        }
    }
}
