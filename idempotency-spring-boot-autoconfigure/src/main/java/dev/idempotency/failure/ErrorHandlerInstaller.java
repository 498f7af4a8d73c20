package dev.idempotency.failure;

import dev.idempotency.DeadLetterFailedException;
import dev.idempotency.RecordCoordinates;
import dev.idempotency.kafka.BrokerConnection;
import dev.idempotency.kafka.DeserializerInstrumentation;
import dev.idempotency.observe.ConsumerObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ConsumerAwareRecordRecoverer;
import org.springframework.kafka.listener.ContainerProperties;

/**
 * Installs error handling in the containers of protected listeners, so that they lose nothing to failures.
 *
 * <p>It provides an error handler where the application has none, and wraps the application's own, which is asked about
 * the message's own failures alone. That of {@code @RetryableTopic} is set when a container is otherwise complete, so
 * containers are looked at again before they start.
 */
public final class ErrorHandlerInstaller implements SmartLifecycle, DisposableBean {

    private static final Logger logger = LoggerFactory.getLogger(ErrorHandlerInstaller.class);

    private final BackOffSettings retries;
    private final @Nullable String deadLetterSuffix;
    private final OutageRegistry outages;
    private final DeserializerInstrumentation receivedBytes;
    private final Supplier<@Nullable ProducerFactory<?, ?>> producerFactory;
    private final @Nullable String applicationName;
    private final ConsumerPauses pauses = new ConsumerPauses();
    private final Map<AbstractMessageListenerContainer<?, ?>, ContainerSuspension> suspensions =
            new ConcurrentHashMap<>();
    private @Nullable DeadLetterProducer producer;
    private @Nullable BrokerConnection destination;
    private volatile boolean running;

    /**
     * Installs nothing yet.
     *
     * @param retries how the provided error handler retries
     * @param deadLetterSuffix what is appended to a topic's name to get that of its dead-letter topic, or {@code null} if
     *     there are no dead letters
     */
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
    }

    /** Installs error handling in a consumer's container, before it starts. */
    public void install(AbstractMessageListenerContainer<?, ?> container, String consumer, ConsumerObserver observer) {
        Outage outage = this.outages.outageOf(consumer);
        outage.setObserver(observer);
        ContainerSuspension suspension = new ContainerSuspension(outage, this.pauses, observer);
        boolean provided = container.getCommonErrorHandler() == null;
        instrumentDeserializers(container, consumer, provided && this.deadLetterSuffix != null);
        if (provided) {
            container.setCommonErrorHandler(
                    new RetryingErrorHandler(recoverer(container, consumer, observer), this.retries, this.pauses));
        }
        wrapErrorHandler(container, suspension);
        keepCommitsToWhatIsDelivered(container, consumer);
        this.receivedBytes.forgetBetweenPolls(container);
        this.suspensions.put(container, suspension);
    }

    /** Makes bytes remembered for dead letters, and what cannot be read delivered to the error handler. */
    private void instrumentDeserializers(
            AbstractMessageListenerContainer<?, ?> container, String consumer, boolean deadLetters) {
        String refusal = DeserializerInstrumentation.refusal(container);
        if (refusal != null && deadLetters) {
            logger.info(
                    "Dead letters of consumer '{}' are written anew with the serializers of the ProducerFactory, and may"
                            + " differ from what was received: {}",
                    consumer,
                    refusal);
        }
        if (refusal == null && deadLetters) {
            this.receivedBytes.rememberIn(container);
        }
        if (refusal == null && !PollFailureHandler.areHandledBy(container.getCommonErrorHandler())) {
            this.receivedBytes.deliverUnreadableIn(
                    container, failure -> !UnavailableService.isCauseOf(failure) && isMessagesFault(failure));
        }
    }

    private boolean isMessagesFault(Throwable failure) {
        return !(failure instanceof Exception) || this.outages.classify(failure) == FailureKind.MESSAGE;
    }

    /** The error handler that a container has beside what is installed here: the application's own, or the provided one. */
    public static @Nullable CommonErrorHandler handlerOf(AbstractMessageListenerContainer<?, ?> container) {
        CommonErrorHandler handler = container.getCommonErrorHandler();
        return (handler instanceof OutageErrorHandler outages) ? outages.delegate() : handler;
    }

    private static void wrapErrorHandler(
            AbstractMessageListenerContainer<?, ?> container, ContainerSuspension suspension) {
        CommonErrorHandler handler = container.getCommonErrorHandler();
        if (handler != null && !(handler instanceof OutageErrorHandler)) {
            container.setCommonErrorHandler(new OutageErrorHandler(handler, suspension));
        }
    }

    /** Switches off a setting by which a container would commit what it has not delivered. */
    private static void keepCommitsToWhatIsDelivered(
            AbstractMessageListenerContainer<?, ?> container, String consumer) {
        ContainerProperties properties = container.getContainerProperties();
        if (properties.isFixTxOffsets()) {
            properties.setFixTxOffsets(false);
            logger.warn(
                    "fixTxOffsets is switched off for consumer '{}': its container would commit records that it has polled and"
                            + " not yet delivered, and they would be lost if it stops. Remove it. At the end of a"
                            + " transaction in its topic, the consumer may seem to lag behind by one.",
                    consumer);
        }
    }

    private ConsumerAwareRecordRecoverer recoverer(
            AbstractMessageListenerContainer<?, ?> container, String consumer, ConsumerObserver observer) {
        if (this.deadLetterSuffix != null) {
            return new DeadLetterPublisher(
                    consumer,
                    this.deadLetterSuffix,
                    producer(container, consumer),
                    this.receivedBytes.records(),
                    observer);
        }
        return (record, kafkaConsumer, exception) -> {
            throw new DeadLetterFailedException(
                    ("Consumer '%s' has failed at %s for good, and idempotency.errors.dead-letter.enabled is false. It"
                                    + " is not skipped: its partition stands still until it succeeds. Enable dead"
                                    + " letters, or define an error handler that skips it.")
                            .formatted(consumer, RecordCoordinates.of(record)),
                    exception);
        };
    }

    private synchronized DeadLetterProducer producer(
            AbstractMessageListenerContainer<?, ?> container, String consumer) {
        if (this.producer == null) {
            // Asked once: looking for it by type takes its time, and an application may have many listeners.
            ProducerFactory<?, ?> factory = this.producerFactory.get();
            if (factory == null) {
                throw new IllegalStateException(("Consumer '%s' needs a ProducerFactory for its dead letters, but there"
                                + " is none, or there are several and none is @Primary. Define one, define an error"
                                + " handler of your own, or set idempotency.errors.dead-letter.enabled=false.")
                        .formatted(consumer));
            }
            this.producer = new DeadLetterProducer(factory, this.applicationName);
            this.destination = BrokerConnection.of(factory);
        }
        if (this.destination != null) {
            warnIfDeadLettersGoElsewhere(consumer, BrokerConnection.of(container), this.destination);
        }
        return this.producer;
    }

    private static void warnIfDeadLettersGoElsewhere(String consumer, BrokerConnection from, BrokerConnection to) {
        if (to.leadsElsewhereThan(from)) {
            logger.warn(
                    "Consumer '{}' reads from {}; its dead letters go to {}, which is what the ProducerFactory names",
                    consumer,
                    from.servers(),
                    to.servers());
        }
    }

    @Override
    public void start() {
        this.suspensions.forEach(ErrorHandlerInstaller::wrapErrorHandler);
        this.running = true;
    }

    @Override
    public void stop() {
        this.running = false;
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    /** Before any container starts, and after all have stopped. */
    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }

    @Override
    public synchronized void destroy() {
        this.pauses.close();
        if (this.producer != null) {
            this.producer.close();
        }
    }
}
